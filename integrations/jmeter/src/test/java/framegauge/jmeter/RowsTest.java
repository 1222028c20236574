// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

import org.apache.jmeter.samplers.SampleResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** result.jtl as Framegauge wrote it, and as nobody should have. */
class RowsTest {
    private static final String HEAD = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,"
            + "dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,Latency,"
            + "IdleTime,Connect\n";

    @TempDir
    Path folder;

    private List<SampleResult> rows(String text) throws IOException {
        Files.writeString(folder.resolve(Rows.FILE), text);
        return Rows.read(folder);
    }

    @Test
    void hasASampleForEachRow() throws IOException {
        List<SampleResult> rows = rows(Recorded.text("short-of-expectation.jtl"));
        assertEquals(3, rows.size());
        SampleResult row = rows.get(1);
        assertEquals("throughput: 512 bytes, both directions", row.getSampleLabel());
        assertEquals("0", row.getResponseCode());
        assertEquals("valid", row.getResponseMessage());
        assertTrue(row.isSuccessful());
        assertEquals(1200, row.getTime());
        assertEquals(rows.get(0).getStartTime() + rows.get(0).getTime(), row.getStartTime());
        assertEquals(288720896, row.getBytesAsLong());
        assertEquals(288720896, row.getSentBytes());
    }

    @Test
    void failsARowThatFellShort() throws IOException {
        SampleResult row = rows(Recorded.text("short-of-expectation.jtl")).get(0);
        assertFalse(row.isSuccessful());
        assertEquals("1", row.getResponseCode());
        assertEquals("the device fell short of throughput>=95%@64: 899658 frames/s",
                row.getResponseMessage());
    }

    @Test
    void takesNoTesterLimitedRowForASuccess() throws IOException {
        for (SampleResult row : rows(Recorded.text("tester-limited.jtl"))) {
            assertFalse(row.isSuccessful());
            assertEquals("3", row.getResponseCode());
            assertTrue(row.getResponseMessage().startsWith("tester-limited: "), row.getResponseMessage());
        }
    }

    @Test
    void readsQuotesAndLinesWithinAField() throws IOException {
        SampleResult row = rows(HEAD + "1000,1,\"a \"\"b\"\", c\",3,invalid,t,text,false,"
                + "\"x\ny\",0,0,1,1,0,0,0\n").get(0);
        assertEquals("a \"b\", c", row.getSampleLabel());
        assertEquals("x\ny", row.getResponseMessage());
    }

    @Test
    void findsColumnsByTheirNames() throws IOException {
        SampleResult row = rows("success,new,label,elapsed,timeStamp,failureMessage,responseMessage,"
                + "responseCode,sentBytes,bytes\ntrue,,x,7,1000,,valid,0,2,1\n").get(0);
        assertTrue(row.isSuccessful());
        assertEquals("x", row.getSampleLabel());
        assertEquals(7, row.getTime());
    }

    @Test
    void namesTheFileAndTheSampleThatItCannotRead() {
        String good = "1000,1,a,0,valid,t,text,true,,0,0,1,1,0,0,0\n";
        String message = assertThrows(IOException.class,
                () -> rows(HEAD + good + good.replace("1000,1,a", "1000,soon,a"))).getMessage();
        assertEquals(folder.resolve(Rows.FILE) + ": sample 2: elapsed is \"soon\"; expected a whole number",
                message);
        assertTrue(assertThrows(IOException.class, () -> rows(HEAD + "1000,1,a,0\n")).getMessage()
                .endsWith("sample 1: failureMessage is missing"));
        assertThrows(NoSuchFileException.class, () -> Rows.read(folder.resolve("nothing")));
    }

    @Test
    void hasNoSampleWhereNothingWasMeasured() throws IOException {
        assertEquals(List.of(), rows(HEAD));
        assertEquals(List.of(), rows(""));
    }
}
