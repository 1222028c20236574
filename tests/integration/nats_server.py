# SPDX-License-Identifier: BSD-3-Clause
"""A NATS server with TLS and a key for each agent and for the controllers, and bridges to it."""
import json
import os
import signal
import socket
import subprocess
import threading
import time

SERVER = """
listen: "127.0.0.1:{port}"
max_payload: 8MB
tls {{ cert_file: "{work}/server.pem", key_file: "{work}/server.key" }}
include "users.conf"
"""


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificates(work):
    """An authority, and what it says of localhost."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", work + "/ca.key", "-out", work + "/ca.pem", "-days", "2",
            "-subj", "/CN=authority")
    openssl("req", *key, "-keyout", work + "/server.key", "-out", work + "/server.csr",
            "-subj", "/CN=localhost")
    with open(work + "/names", "w") as file:
        file.write("subjectAltName=DNS:localhost\n")
    openssl("x509", "-req", "-in", work + "/server.csr", "-CA", work + "/ca.pem", "-CAkey", work + "/ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", work + "/names", "-out", work + "/server.pem")


def wait_for(what, holds, seconds=60):
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, what
        time.sleep(0.02)


class Server:
    def __init__(self, program, bridge, work, agents):
        self.program, self.bridge, self.work = program, bridge, work
        self.processes, self.process = [], None
        certificates(work)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.invite("control", "--controller")
        for name in agents:
            self.invite(name, ports=["east=memif:/run/none"])
        with open(work + "/nats.conf", "w") as file:
            file.write(SERVER.format(port=self.port, work=work))

    def invite(self, name, *options, ports=()):
        """A member: its key and the server's certificates come to the folder NAME."""
        line = subprocess.run(
            [self.program, "fleet", "invite", name, "--server", f"tls://localhost:{self.port}", "--bridge",
             self.bridge, "--ca", self.work + "/ca.pem", "--users", self.work + "/users.conf", *options],
            check=True, text=True, capture_output=True).stdout.split()[3]
        subprocess.run([self.program, "fleet", "join", "-", "--folder", f"{self.work}/{name}.etc",
                        *(f"--port={port}" for port in ports)], check=True, text=True, input=line,
                       stdout=subprocess.DEVNULL)

    def start(self):
        log = open(self.work + "/nats.log", "a")
        self.process = subprocess.Popen(["nats-server", "-c", self.work + "/nats.conf"],
                                        stdout=log, stderr=log)
        wait_for("the NATS server does not listen", self.answers)

    def answers(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def begin(self, name, *options, key=None):
        """A bridge; its log is NAME.log."""
        log = open(f"{self.work}/{name}.log", "w")
        one = subprocess.Popen([self.bridge, "--server", f"tls://localhost:{self.port}", "--ca",
                                f"{self.work}/{key or name}.etc/bridge-ca.pem", "--nkey",
                                f"{self.work}/{key or name}.etc/bridge.nkey", *options],
                               stdout=log, stderr=log)
        self.processes.append(one)
        return one

    def said(self, name):
        with open(f"{self.work}/{name}.log") as file:
            return file.read()

    def end(self):
        for one in self.processes + ([self.process] if self.process else []):
            if one.poll() is None:
                one.kill()
            one.wait()


class Nonces:
    """As much of a server as there is until somebody is logged in: asks each that connects to sign the next
    of its nonces, and keeps the answer."""

    def __init__(self, nonces):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.nonces, self.told, self.connections = nonces, [], []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        for nonce in self.nonces:
            one, _ = self.listener.accept()
            self.connections.append(one)
            info = {"server_id": "N", "version": "2.9.10", "proto": 1, "headers": True,
                    "max_payload": 1 << 20, "auth_required": True, "nonce": nonce}
            one.sendall(b"INFO " + json.dumps(info).encode() + b"\r\n")
            try:
                line = one.makefile().readline()
            except ConnectionResetError:
                continue  # that one could not be signed
            self.told.append(json.loads(line.split(" ", 1)[1]))
            one.sendall(b"PONG\r\n" if "sig" in self.told[-1] else b"-ERR 'Authorization Violation'\r\n")
