// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/**
 * One process, which does not outlive its reason: it ends when JMeter stops the sampler, when its time is
 * over and when JMeter itself ends.
 *
 * It is asked first (SIGTERM), so that Framegauge keeps what it measured and gives its ports back, and is
 * killed with all of its children after {@link #GRACE}. Only a JMeter that is killed by SIGKILL cannot do so.
 * What the process prints goes to files, which nobody has to empty while it runs.
 */
final class Run implements AutoCloseable {
    static final Duration GRACE = Duration.ofMillis(Long.getLong("framegauge.grace_ms", 10_000));

    // Both guarded by LIVE. JMeter goes on with its next sampler while it ends: no process may begin then.
    private static final Set<Run> LIVE = new HashSet<>();
    private static boolean ending;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Run::endAll, "framegauge-shutdown"));
    }

    private final Path output = Files.createTempFile("framegauge-", ".out");
    private final Path errors = Files.createTempFile("framegauge-", ".err");
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private final Process process;
    private boolean ended;

    Run(List<String> command) throws IOException {
        synchronized (LIVE) {
            try {
                if (ending) {
                    throw new IOException("JMeter is ending");
                }
                process = new ProcessBuilder(command)
                        .redirectInput(new File("/dev/null"))
                        .redirectOutput(output.toFile())
                        .redirectError(errors.toFile())
                        .start();
            } catch (IOException e) {
                delete();
                throw e;
            }
            LIVE.add(this);
        }
    }

    /**
     * Wait for the end of the process.
     *
     * @param timeout in seconds; 0: as long as it takes
     * @return whether it ended by itself, or was cancelled, before its time was over. A thread that is
     *         interrupted cancels the process, and is interrupted afterwards too.
     */
    boolean await(long timeout) {
        boolean inTime = true;
        boolean interrupted = false;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeout);
        while (process.isAlive()) {
            try {
                if (timeout <= 0 || !inTime || cancelled.get()) {
                    process.waitFor();
                } else if (!process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    inTime = cancelled.get();
                    cancel();
                }
            } catch (InterruptedException e) {
                interrupted = true;
                cancel();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return inTime;
    }

    /** Have the process end. Returns at once; from any thread. */
    void cancel() {
        if (cancelled.compareAndSet(false, true)) {
            Thread thread = new Thread(this::end, "framegauge-stop");
            thread.setDaemon(true);
            thread.start();
        }
    }

    boolean isCancelled() {
        return cancelled.get();
    }

    int status() {
        return process.exitValue();
    }

    String output() throws IOException {
        return read(output);
    }

    String errors() throws IOException {
        return read(errors);
    }

    /** Leaves no process and no file. */
    @Override
    public void close() throws IOException {
        if (process.isAlive() || cancelled.get()) {
            end();
        }
        synchronized (LIVE) {
            LIVE.remove(this);
        }
        delete();
    }

    static void endAll() {
        List<Run> runs;
        synchronized (LIVE) {
            ending = true;
            runs = List.copyOf(LIVE);
        }
        runs.parallelStream().forEach(run -> {
            run.end();
            run.output.toFile().delete();
            run.errors.toFile().delete();
        });
    }

    // A second caller waits for the first one: a second SIGTERM ends Framegauge at once, without a result.
    private synchronized void end() {
        if (ended) {
            return;
        }
        ended = true;
        List<ProcessHandle> children = process.descendants().collect(Collectors.toList());
        end(process.toHandle());
        children.forEach(Run::end);
    }

    private static void end(ProcessHandle handle) {
        if (!handle.isAlive()) {
            return;
        }
        handle.destroy();
        try {
            handle.onExit().get(GRACE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            handle.destroyForcibly();
        }
    }

    private void delete() throws IOException {
        Files.deleteIfExists(output);
        Files.deleteIfExists(errors);
    }

    // Whatever bytes it printed: Files.readString() refuses what is no UTF-8.
    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }
}
