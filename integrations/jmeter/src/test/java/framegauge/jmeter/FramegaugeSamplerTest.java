// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

import org.apache.jmeter.samplers.SampleResult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The sampler with shell scripts in place of Framegauge: $2 is the plan and $4 the folder for results. */
@Timeout(120)
class FramegaugeSamplerTest {
    @TempDir
    Path work;

    private final FramegaugeSampler sampler = new FramegaugeSampler();

    @BeforeEach
    void setUp() {
        sampler.setName("test");
        sampler.setPlan(work.resolve("plan.yaml").toString());
        sampler.setFolder(work.resolve("runs").toString());
    }

    // A program that leaves a recorded result and then does what a script says.
    private SampleResult sample(String recorded, String script) throws IOException {
        program(recorded, script);
        return sampler.sample(null);
    }

    private void program(String recorded, String script) throws IOException {
        Path result = work.resolve("recorded.jtl");
        String copy = "";
        if (recorded != null) {
            Files.writeString(result, Recorded.text(recorded));
            copy = "cp " + result + " \"$4/result.jtl\"\n";
        }
        Path program = Files.writeString(work.resolve("program"), "#!/bin/sh\n" + copy + script + "\n");
        assertTrue(program.toFile().setExecutable(true));
        sampler.setProgram(program.toString());
    }

    private long runs() throws IOException {
        try (Stream<Path> list = Files.list(work.resolve("runs"))) {
            return list.count();
        }
    }

    @Test
    void succeedsWithASubResultForEachRow() throws IOException {
        SampleResult result = sample("valid.jtl", "echo table; exit 0");
        assertTrue(result.isSuccessful(), result.getResponseMessage());
        assertEquals("0", result.getResponseCode());
        assertTrue(result.getResponseMessage().startsWith("3 rows valid, in " + work.resolve("runs/plan-")));
        assertEquals("table\n", result.getResponseDataAsString());
        assertEquals("test", result.getSampleLabel());
        SampleResult[] rows = result.getSubResults();
        assertEquals(3, rows.length);
        assertEquals("throughput: 64 bytes, both directions", rows[0].getSampleLabel());
        assertTrue(Arrays.stream(rows).allMatch(SampleResult::isSuccessful));
    }

    @Test
    void tellsOfTheRowsThatFellShort() throws IOException {
        SampleResult result = sample("short-of-expectation.jtl", "exit 1");
        assertFalse(result.isSuccessful());
        assertEquals("1", result.getResponseCode());
        assertEquals("throughput: 64 bytes, both directions: the device fell short of throughput>=95%@64: "
                + "899658 frames/s", result.getResponseMessage());
        assertEquals(3, result.getSubResults().length);
    }

    @Test
    void isNoSuccessWhereARowIsLimitedByTheTesterWhateverTheProgramSays() throws IOException {
        for (int status : new int[] {3, 0}) {
            SampleResult result = sample("tester-limited.jtl", "exit " + status);
            assertFalse(result.isSuccessful());
            assertEquals(String.valueOf(status), result.getResponseCode());
            assertTrue(result.getResponseMessage().contains("tester-limited: "), result.getResponseMessage());
            assertFalse(Arrays.stream(result.getSubResults()).anyMatch(SampleResult::isSuccessful));
        }
    }

    @Test
    void hasTheWordsOfAProgramThatRefuses() throws IOException {
        SampleResult result = sample(null, "echo 'plan.yaml:3: rate: expected a load' >&2; exit 2");
        assertFalse(result.isSuccessful());
        assertEquals("2", result.getResponseCode());
        assertEquals("plan.yaml:3: rate: expected a load", result.getResponseMessage());
        assertEquals(0, result.getSubResults().length);
        assertEquals(0, runs());
    }

    @Test
    void doesNotBelieveASuccessWithoutAResult() throws IOException {
        SampleResult result = sample(null, "exit 0");
        assertFalse(result.isSuccessful());
        assertTrue(result.getResponseMessage().contains("result.jtl"), result.getResponseMessage());
    }

    @Test
    void saysWhatItCannotStart() {
        sampler.setProgram(work.resolve("nothing").toString());
        SampleResult result = sampler.sample(null);
        assertFalse(result.isSuccessful());
        assertEquals("not run", result.getResponseCode());
        assertTrue(result.getResponseMessage().contains("No such file"), result.getResponseMessage());
        sampler.setPlan(" ");
        assertEquals("Plan: it is empty; expected the path of a plan, a YAML file",
                sampler.sample(null).getResponseMessage());
    }

    @Test
    void handsOverThePlanAndEachLine() throws IOException {
        sampler.setSet("\n a=[1, 2] \n\nb=c\n");
        sampler.setExpect("throughput>=95%@512");
        SampleResult result = sample("valid.jtl", "shift 4; printf '%s|' \"$@\"");
        assertEquals("--set|a=[1, 2]|--set|b=c|--expect|throughput>=95%@512|",
                result.getResponseDataAsString());
    }

    @Test
    void givesEachRunAFolderOfItsOwn() throws IOException {
        sample("valid.jtl", "exit 0");
        sample("valid.jtl", "exit 0");
        assertEquals(2, runs());
    }

    // The script ends like Framegauge does; the process that it started would live on.
    private static final String SLOW = "trap 'echo kept; exit 130' TERM\nsleep 600 &\necho $! > \"$0.pid\"\n"
            + "while :; do sleep 0.05; done";

    private void assertStopped(SampleResult result, String message) throws IOException {
        assertFalse(result.isSuccessful());
        assertEquals(message, result.getResponseMessage());
        assertEquals("130", result.getResponseCode());
        assertEquals("kept\n", result.getResponseDataAsString());
        long pid = Long.parseLong(Files.readString(work.resolve("program.pid")).trim());
        assertTrue(hasEnded(pid));
    }

    // Whoever inherited the process may take a while to notice its end: a zombie has ended.
    private static boolean hasEnded(long pid) {
        for (int i = 0; i < 100; i++) {
            try {
                if (Files.readString(Path.of("/proc/" + pid + "/stat")).contains(") Z ")) {
                    return true;
                }
                Thread.sleep(100);
            } catch (IOException | InterruptedException e) {
                return e instanceof IOException;
            }
        }
        return false;
    }

    @Test
    void stopsARunThatTakesTooLong() throws IOException {
        sampler.setTimeout(1);
        SampleResult result = sample("valid.jtl", SLOW);
        assertStopped(result, "stopped: it took longer than 1 s");
        assertEquals(3, result.getSubResults().length);
    }

    private Thread afterTheStart(Runnable action) {
        Thread thread = new Thread(() -> {
            try {
                while (!Files.exists(work.resolve("program.pid")) || !sampler.isRunning()) {
                    Thread.sleep(10);
                }
            } catch (InterruptedException e) {
                return;
            }
            action.run();
        });
        thread.start();
        return thread;
    }

    @Test
    void stopsWhenJMeterDoes() throws IOException {
        assertFalse(sampler.interrupt());
        program("valid.jtl", SLOW);
        afterTheStart(sampler::interrupt);
        assertStopped(sampler.sample(null), "stopped by JMeter");
    }

    @Test
    void stopsWithItsThread() throws IOException {
        program("valid.jtl", SLOW);
        afterTheStart(Thread.currentThread()::interrupt);
        SampleResult result = sampler.sample(null);
        assertTrue(Thread.interrupted());
        assertStopped(result, "stopped by JMeter");
    }

    @Test
    void killsWhatDoesNotListen() throws IOException {
        sampler.setTimeout(1);
        SampleResult result = assertTimeout(Run.GRACE.plusSeconds(60),
                () -> sample(null, "trap '' TERM\nwhile :; do sleep 0.1; done"));
        assertFalse(result.isSuccessful());
        assertEquals("137", result.getResponseCode());
    }
}
