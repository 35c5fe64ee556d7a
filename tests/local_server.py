"""An HTTP server on 127.0.0.1 that answers as a test says and keeps what it was sent."""

import asyncio
import contextlib
import re

#: What may end a connection.
ENDS = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)


def answer(body=b"", status="200 OK", **headers):
    """Return the bytes of an answer; underscores in header names are dashes."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


class Sent(str):
    """A request as text; ``line`` is its first line, ``body`` what follows the headers."""

    __slots__ = ()

    @property
    def line(self):
        return self.partition("\r\n")[0]

    @property
    def body(self):
        return self.partition("\r\n\r\n")[2]

    def header(self, name):
        match = re.search(rf"(?im)^{name}: (.*)\r$", self.partition("\r\n\r\n")[0] + "\r")
        return match and match[1]


class Server:
    """Answers the n-th request with the n-th answer, the last one again and again; None is silence."""

    def __init__(self, answers):
        self.answers = answers
        self.sent = []
        self.connections = 0
        self.tasks = []
        self.url = ""

    async def serve(self, reader, writer):
        self.connections += 1
        self.tasks.append(asyncio.current_task())
        with contextlib.closing(writer), contextlib.suppress(*ENDS):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: (\d+)", head)
                body = await reader.readexactly(int(length[1])) if length else b""
                self.sent.append(Sent((head + body).decode("latin-1")))
                given = self.answers[min(len(self.sent), len(self.answers)) - 1]
                if given is None:
                    await reader.read()
                    break
                writer.write(given)
                await writer.drain()
                if not given.startswith(b"HTTP/") or b"Connection: close" in given:
                    break


@contextlib.asynccontextmanager
async def serving(*answers):
    """Run a server as long as the block runs."""
    server = Server(answers or (answer("ok"),))
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listener.close()
        for task in server.tasks:
            task.cancel()
        await asyncio.gather(*server.tasks, return_exceptions=True)
        await asyncio.sleep(0)  # lets the transports close
