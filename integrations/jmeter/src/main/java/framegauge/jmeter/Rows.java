// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.save.CSVSaveService;

/**
 * The rows of a result as samples: result.jtl of a run's folder. Framegauge decides there what is a success,
 * so that nothing has to be known here of any method, of validity or of expectations.
 */
final class Rows {
    static final String FILE = "result.jtl";

    private Rows() {
    }

    /**
     * Read the samples of a folder.
     *
     * @throws IOException that names the file; where it is not what Framegauge writes, also sample and column
     */
    static List<SampleResult> read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        List<SampleResult> rows = new ArrayList<>();
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            List<String> columns = Arrays.asList(CSVSaveService.csvReadFile(reader, ','));
            while (true) {
                String[] values = CSVSaveService.csvReadFile(reader, ',');
                if (values.length == 0) {
                    return rows;
                }
                try {
                    rows.add(sample(columns, values));
                } catch (IllegalArgumentException e) {
                    throw new IOException(file + ": sample " + (rows.size() + 1) + ": " + e.getMessage(), e);
                }
            }
        }
    }

    private static SampleResult sample(List<String> columns, String[] values) {
        long start = number(columns, values, "timeStamp");
        SampleResult row = SampleResult.createTestSample(start, start + number(columns, values, "elapsed"));
        row.setSampleLabel(text(columns, values, "label"));
        row.setResponseCode(text(columns, values, "responseCode"));
        String why = text(columns, values, "failureMessage");
        row.setResponseMessage(why.isEmpty() ? text(columns, values, "responseMessage") : why);
        row.setSuccessful("true".equals(text(columns, values, "success")));
        row.setDataType(SampleResult.TEXT);
        row.setBytes(number(columns, values, "bytes"));
        row.setSentBytes(number(columns, values, "sentBytes"));
        return row;
    }

    private static String text(List<String> columns, String[] values, String column) {
        int i = columns.indexOf(column);
        if (i < 0 || i >= values.length) {
            throw new IllegalArgumentException(column + " is missing");
        }
        return values[i];
    }

    private static long number(List<String> columns, String[] values, String column) {
        String text = text(columns, values, column);
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(column + " is \"" + text + "\"; expected a whole number", e);
        }
    }
}
