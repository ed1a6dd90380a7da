/**
 * Serves the application of an OpenEnv project with uvicorn, which openenv-core brings, on this machine alone. Says where in one line, as other processes of environments do, once it
 * serves; ends when its parent does. Arguments: the application (`server.app:app`), and what the command adds.
 */
export const OPENENV_LAUNCHER = `
import importlib, json, os, sys, threading

def say(**values):
    print(json.dumps({"edgewise_env": 1, **values}), flush=True)

def fail(code, error):
    say(error={"code": code, "message": type(error).__name__ + ": " + str(error)})
    os._exit(2)

def watch():
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)

sys.path.insert(0, os.getcwd())
name, port = sys.argv[1], int(sys.argv[sys.argv.index("--port") + 1])
threading.Thread(target=watch, daemon=True).start()
try:
    import uvicorn
    module, _, attribute = name.partition(":")
    app = getattr(importlib.import_module(module), attribute or "app")
except BaseException as error:
    fail("import_failed", error)

class Server(uvicorn.Server):
    async def startup(self, *args, **kwargs):
        await super().startup(*args, **kwargs)
        if self.started:
            say(url="http://127.0.0.1:" + str(port), environment=name, pid=os.getpid())

Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", ws_ping_interval=None)).run()
`;
