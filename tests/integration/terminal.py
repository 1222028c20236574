# SPDX-License-Identifier: BSD-3-Clause
"""A terminal of 80 by 24 for tests: tmux types and reads the screen."""

import os
import subprocess
import time


class Terminal:
    """A terminal with a shell command in it."""

    made = 0

    def __init__(self, folder, command):
        Terminal.made += 1  # a server that ends still has its socket
        self.tmux = ["tmux", "-f", "/dev/null", "-S", f"{folder}/tmux{Terminal.made}"]
        environment = dict(
            os.environ, HOME=folder, XDG_STATE_HOME=folder, XDG_RUNTIME_DIR=folder, TERM="screen"
        )
        subprocess.run(
            self.tmux + ["new-session", "-d", "-x", "80", "-y", "24", "-c", folder, command],
            check=True,
            env=environment,
        )

    def type(self, *keys):
        subprocess.run(self.tmux + ["send-keys", *keys], check=True)

    def text(self, line):
        """A line as it is, and Enter."""
        subprocess.run(self.tmux + ["send-keys", "-l", line], check=True)
        self.type("Enter")

    def screen(self, *options):
        return subprocess.run(
            self.tmux + ["capture-pane", "-p", *options], capture_output=True, text=True
        ).stdout.rstrip("\n")

    def unwrapped(self):
        """The lines of the screen as they were written, also where they are longer than the screen is wide."""
        return [line.rstrip() for line in self.screen("-J").splitlines()]

    def wait(self, condition, seconds=60):
        """The screen for which the condition holds, else the last one."""
        end = time.monotonic() + seconds
        while True:
            screen = self.screen()
            if condition(screen) or time.monotonic() > end:
                return screen
            time.sleep(0.03)

    def prompt(self, prompt, seconds=60):
        """Wait until the last line is an empty prompt."""
        return self.wait(lambda screen: screen.splitlines()[-1:] == [prompt], seconds)

    def close(self, seconds=60):
        """Take the terminal away, and wait for its shell to end: it may have a history to write."""
        pid = subprocess.run(
            self.tmux + ["display-message", "-p", "#{pane_pid}"], capture_output=True, text=True
        ).stdout.strip()
        subprocess.run(self.tmux + ["kill-server"], capture_output=True)
        end = time.monotonic() + seconds
        while pid and os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
            time.sleep(0.01)
