// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Files that Framegauge wrote. */
final class Recorded {
    private Recorded() {
    }

    static String text(String name) throws IOException {
        try (InputStream in = Recorded.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
