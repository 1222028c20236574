// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

import org.apache.jmeter.samplers.AbstractSampler;
import org.apache.jmeter.samplers.Entry;
import org.apache.jmeter.samplers.Interruptible;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testbeans.TestBean;

/**
 * A sampler that runs a Framegauge test: one sample for the run, a sub-result for each row of its result.
 *
 * The run succeeds when the program does, and all rows: a figure that is limited by the tester is no success.
 * Parameters are set by JMeter, from FramegaugeSamplerBeanInfo.
 */
public final class FramegaugeSampler extends AbstractSampler implements TestBean, Interruptible {
    private static final long serialVersionUID = 1;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");
    private static final int MAX_MESSAGE = 1000;

    private String program = "framegauge";
    private String plan = "";
    private String set = "";
    private String expect = "";
    private String folder = "";
    private int timeout;
    private transient volatile Run run;

    @Override
    public SampleResult sample(Entry entry) {
        SampleResult result = new SampleResult();
        result.setSampleLabel(getName());
        result.setDataType(SampleResult.TEXT);
        result.sampleStart();
        List<SampleResult> rows = Collections.emptyList();
        try {
            Path out = newFolder();
            try {
                execute(result, out);
                rows = result(result, out);
            } finally {
                deleteIfEmpty(out);
            }
        } catch (IOException | IllegalArgumentException e) {
            fail(result, "not run", String.valueOf(e.getMessage()));
        } finally {
            if (result.getEndTime() == 0) {
                result.sampleEnd();
            }
        }
        for (SampleResult row : rows) {
            row.setThreadName(getThreadName());
            result.storeSubResult(row, false);
        }
        return result;
    }

    /** JMeter stops the sampler, from a thread of its own. */
    @Override
    public boolean interrupt() {
        Run running = run;
        if (running != null) {
            running.cancel();
        }
        return running != null;
    }

    boolean isRunning() {
        return run != null;
    }

    // Run the program; its words are the data of the sample, its exit status the response code.
    private void execute(SampleResult result, Path out) throws IOException {
        List<String> command = command(out);
        result.setSamplerData(String.join(" ", command));
        try (Run running = new Run(command)) {
            run = running;
            boolean inTime = running.await(timeout);
            result.sampleEnd();
            String errors = running.errors().trim();
            result.setResponseData(running.output() + errors, "UTF-8");
            result.setResponseCode(String.valueOf(running.status()));
            result.setSuccessful(running.status() == 0);
            result.setResponseMessage(!inTime ? "stopped: it took longer than " + timeout + " s"
                    : running.isCancelled() ? "stopped by JMeter" : errors);
        } finally {
            run = null;
        }
    }

    // The rows of a run that is over. A run that says it is good and has none is not believed.
    private List<SampleResult> result(SampleResult result, Path out) throws IOException {
        List<SampleResult> rows = Collections.emptyList();
        if (result.isSuccessful() || Files.exists(out.resolve(Rows.FILE))) {
            rows = Rows.read(out);
        }
        List<SampleResult> bad = rows.stream().filter(row -> !row.isSuccessful())
                .collect(Collectors.toList());
        if (result.isSuccessful() && bad.isEmpty()) {
            result.setResponseMessage(rows.size() + (rows.size() == 1 ? " row" : " rows") + " valid, in "
                    + out);
        } else {
            String why = result.getResponseMessage();
            fail(result, result.getResponseCode(), !why.isEmpty() || bad.isEmpty() ? why : bad.stream()
                    .map(row -> row.getSampleLabel() + ": " + row.getResponseMessage())
                    .collect(Collectors.joining("; ")));
        }
        return rows;
    }

    private static void fail(SampleResult result, String code, String why) {
        result.setSuccessful(false);
        result.setResponseCode(code);
        result.setResponseMessage(why.isEmpty() ? "exit status " + code
                : why.substring(0, Math.min(why.length(), MAX_MESSAGE)));
    }

    private List<String> command(Path out) {
        if (plan.isBlank()) {
            throw new IllegalArgumentException("Plan: it is empty; expected the path of a plan, a YAML file");
        }
        List<String> command = new ArrayList<>(List.of(program.isBlank() ? "framegauge" : program.trim(),
                "run", resolved(plan).toString(), "--out", out.toString()));
        addLines(command, "--set", set);
        addLines(command, "--expect", expect);
        return command;
    }

    private static void addLines(List<String> command, String option, String text) {
        text.lines().map(String::trim).filter(line -> !line.isEmpty())
                .forEach(line -> command.addAll(List.of(option, line)));
    }

    // A folder for this run alone; Framegauge takes an empty one.
    private Path newFolder() throws IOException {
        Path parent = Files.createDirectories(resolved(folder.isBlank() ? "framegauge-runs" : folder));
        String name = Path.of(plan.trim()).getFileName().toString().replaceFirst("\\.ya?ml$", "") + "-"
                + TIME.format(LocalDateTime.now());
        for (int i = 1;; i++) {
            try {
                return Files.createDirectory(parent.resolve(i == 1 ? name : name + "-" + i));
            } catch (FileAlreadyExistsException e) {
                continue;
            }
        }
    }

    private static void deleteIfEmpty(Path out) throws IOException {
        try {
            Files.deleteIfExists(out);
        } catch (DirectoryNotEmptyException e) {
            return;
        }
    }

    // Paths are relative to the test plan of JMeter, as those of its other elements.
    private static Path resolved(String path) {
        return FileServer.getFileServer().getResolvedFile(path.trim()).toPath().toAbsolutePath();
    }

    public String getProgram() {
        return program;
    }

    public void setProgram(String value) {
        program = value;
    }

    public String getPlan() {
        return plan;
    }

    public void setPlan(String value) {
        plan = value;
    }

    public String getSet() {
        return set;
    }

    public void setSet(String value) {
        set = value;
    }

    public String getExpect() {
        return expect;
    }

    public void setExpect(String value) {
        expect = value;
    }

    public String getFolder() {
        return folder;
    }

    public void setFolder(String value) {
        folder = value;
    }

    public int getTimeout() {
        return timeout;
    }

    public void setTimeout(int value) {
        timeout = value;
    }
}
