// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of JMeter, after which nothing begins: the tests of other classes are in other processes. */
@Timeout(120)
class RunTest {
    @Test
    void endsWithJMeterAndBeginsNoMore() throws IOException {
        try (Run run = new Run(List.of("sleep", "600"))) {
            Run.endAll();
            assertTrue(run.await(0));
            assertEquals(128 + 15, run.status());
        }
        assertEquals("JMeter is ending",
                assertThrows(IOException.class, () -> new Run(List.of("true"))).getMessage());
    }
}
