"""A server on 127.0.0.1 that answers as model providers do, from a script, and keeps what it was sent."""

import contextlib
import http.server
import json
import threading

import attrs


@attrs.define
class Reply:
    """What a request is answered with; ``end`` breaks the connection off instead of ending the answer."""

    status: int = 200
    body: bytes = b""
    headers: dict = attrs.field(factory=dict)
    end: bool = True


@attrs.define
class Sent:
    """A request that came: its path, headers in lower case, and body."""

    path: str
    headers: dict
    body: dict


@attrs.define(slots=False)
class ModelServer:
    """Gives one reply after another; the last one again and again."""

    replies: list
    sent: list = attrs.field(factory=list)
    url: str = ""

    def __enter__(self):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_error):
        self._server.shutdown()
        self._server.server_close()

    def _handler(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                owner.sent.append(Sent(self.path, headers, json.loads(body)))
                reply = owner.replies[min(len(owner.sent), len(owner.replies)) - 1]
                if callable(reply):
                    reply = reply(owner.sent[-1])
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body) + (not reply.end)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(reply.body)

            def log_message(self, *_arguments):
                """Say nothing."""

        return Handler


def whole(data, status=200, **headers):
    """Answer with JSON."""
    return Reply(status, json.dumps(data).encode(), {"content-type": "application/json", **headers})


def stream(*events, end=True, done=True):
    """Answer with server-sent events, named as the data's ``type`` says."""
    lines = [
        (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
        for event in events
    ]
    return Reply(
        200,
        "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode(),
        {"content-type": "text/event-stream"},
        end,
    )


# --- Chat Completions


def completion(text=None, calls=(), reason="stop", usage=(3, 5)):
    """Give a whole answer of Chat Completions; calls are (id, name, arguments)."""
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in calls
        ]
        reason = "tool_calls"
    counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": counts}


def completion_events(text=None, calls=(), reason="stop", usage=(3, 5)):
    """Give the same as chunks, texts and arguments in pieces of two characters."""
    data = completion(text, calls, reason, usage)
    deltas = [{"role": "assistant", "content": None}]
    deltas += [{"content": piece} for piece in pieces(text or "")]
    for index, (call_id, name, arguments) in enumerate(calls):
        start = {"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [{"index": index, **start}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in pieces(arguments)
        ]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": data["choices"][0]["finish_reason"]}
    return [*chunks, {"choices": [end]}, {"choices": [], "usage": data["usage"]}]


def pieces(text, size=2):
    return [text[start : start + size] for start in range(0, len(text), size)]


# --- Responses


def response(text=None, calls=(), status="completed", usage=(3, 5)):
    """Give a whole answer of the Responses API."""
    output = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "content": content})
    output += [
        {
            "type": "function_call",
            "id": f"fc_{call_id}",
            "call_id": call_id,
            "name": name,
            "arguments": arguments,
        }
        for call_id, name, arguments in calls
    ]
    counts = {"input_tokens": usage[0], "output_tokens": usage[1]}
    reason = {"reason": "max_output_tokens"} if status == "incomplete" else None
    return {
        "id": "resp_1",
        "status": status,
        "output": output,
        "usage": counts,
        "incomplete_details": reason,
        "error": None,
    }


def response_events(text=None, calls=(), status="completed", usage=(3, 5)):
    """Give the same as events; the last one leaves the output out, as some servers do."""
    data = response(text, calls, status, usage)
    events = [{"type": "response.created", "response": {**data, "output": []}}]
    events += [{"type": "response.output_text.delta", "delta": piece} for piece in pieces(text or "")]
    events += [{"type": "response.output_item.done", "item": item} for item in data["output"]]
    return [*events, {"type": f"response.{status}", "response": {**data, "output": []}}]


# --- Messages


def message(text=None, calls=(), reason="end_turn", usage=(3, 5)):
    """Give a whole answer of the Messages API; arguments are JSON texts."""
    content = [{"type": "text", "text": text}] if text is not None else []
    content += [
        {"type": "tool_use", "id": call_id, "name": name, "input": json.loads(arguments)}
        for call_id, name, arguments in calls
    ]
    counts = {"input_tokens": usage[0], "output_tokens": usage[1]}
    reason = "tool_use" if calls else reason
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": reason,
        "usage": counts,
    }


def message_events(text=None, calls=(), reason="end_turn", usage=(3, 5)):
    """Give the same as events, with a block of thinking before it."""
    start = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "usage": {"input_tokens": usage[0], "output_tokens": 1},
    }
    blocks = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [{"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "s"}],
        )
    ]
    if text is not None:
        blocks.append(
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(text)])
        )
    for call_id, name, arguments in calls:
        parts = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(arguments)]
        blocks.append(({"type": "tool_use", "id": call_id, "name": name, "input": {}}, parts))
    events = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": "tool_use" if calls else reason}
    return [
        *events,
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage[1]}},
        {"type": "message_stop"},
    ]
