import { RELAY_ROUTES } from "../../rollouts/types.ts";

/**
 * What listens inside of a sandbox for an agent's calls: each is a file `calls/N` there (one JSON object `{"call", "route", "body"}`), and is answered when
 * there is a file `answers/N` (`{"status", "content_type", "text"}`). It needs Python 3 alone, and no way out of the sandbox.
 *
 * `proxy.py serve FOLDER` writes its port into `FOLDER/port`. `proxy.py next FOLDER AFTER SECONDS` waits for a call behind number `AFTER`, or for the agent's end (a
 * file `ended`), and says what there is in one line of JSON.
 */
export const AGENT_PROXY = `
import json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROUTES = ${JSON.stringify(RELAY_ROUTES)}
SHOWN = 65536

def write(path, value):
    with open(path + ".part", "w") as file:
        file.write(value)
    os.replace(path + ".part", path)

def serve(folder):
    lock = threading.Lock()
    count = [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def say(self, status, content_type, text):
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(data)))
            self.send_header("x-should-retry", "false")
            self.end_headers()
            self.wfile.write(data)

        def refuse(self, status, message):
            self.say(status, "application/json", json.dumps({"error": {"message": message, "type": "invalid_request_error"}}))

        def do_GET(self):
            if self.path.split("?")[0].rstrip("/").endswith("/models"):
                model = os.environ.get("OPENAI_MODEL", "model")
                self.say(200, "application/json", json.dumps({"object": "list", "data": [{"id": model, "object": "model"}]}))
            else:
                self.refuse(404, "there is no " + self.path)

        def do_POST(self):
            route = self.path.split("?")[0].strip("/")
            route = route[3:] if route.startswith("v1/") else route
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
            if route not in ROUTES:
                return self.refuse(404, "there is no route " + route)
            try:
                body = json.loads(data)
                if not isinstance(body, dict):
                    raise ValueError
            except ValueError:
                return self.refuse(400, "the body is no JSON object")
            with lock:
                count[0] += 1
                call = count[0]
                write(os.path.join(folder, "calls", str(call)), json.dumps({"call": call, "route": route, "body": body}))
            path = os.path.join(folder, "answers", str(call))
            while not os.path.exists(path):
                time.sleep(0.02)
            with open(path) as file:
                answer = json.load(file)
            os.remove(path)
            self.say(answer["status"], answer["content_type"], answer["text"])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    write(os.path.join(folder, "port"), str(server.server_address[1]))
    server.serve_forever()

def next_call(folder, after, seconds):
    path = os.path.join(folder, "calls", str(after + 1))
    until = time.monotonic() + seconds
    while True:
        ended = os.path.exists(os.path.join(folder, "ended"))
        if os.path.exists(path):
            with open(path) as file:
                text = file.read()
            return print(text if len(text) <= SHOWN else json.dumps({"call": after + 1, "path": path}))
        if ended:
            return print(json.dumps({"ended": True}))
        if time.monotonic() >= until:
            return print(json.dumps({}))
        time.sleep(0.02)

if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    next_call(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
`;
