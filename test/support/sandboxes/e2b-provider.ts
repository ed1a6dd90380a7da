import { connectAnswer, framedMessage, json, type Machine, Machines } from "./machines.ts";

/** E2B as its package 2.63.0 speaks with it, over machines of this one. `fetch` is the network. */
export class E2bProvider {
  readonly machines = new Machines();
  readonly key: string = "e2b_0123456789";
  readonly creations: Record<string, unknown>[] = [];
  /** Answers of the given status come first. */
  failing: number[] = [];

  readonly fetch = async (url: string, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    request.signal.throwIfAborted();
    const failing = this.failing.shift();
    if (failing !== undefined) return json({ code: failing, message: "not now" }, failing);
    const { hostname, pathname, searchParams } = new URL(url);
    if (hostname === "api.e2b.app") return this.#api(request, pathname, searchParams);
    const [, port, id = ""] = /^(\d+)-(.+)\.e2b\.app$/.exec(hostname) ?? [];
    const machine = this.machines.made.get(id);
    if (machine === undefined || port !== "49983") return json({ sandboxId: id, message: `The sandbox ${id} was not found`, code: 502 }, 502);
    if (request.headers.get("x-access-token") !== `token-of-${id}` || request.headers.get("e2b-sandbox-id") !== id)
      return json({ code: 401, message: "no token" }, 401);
    return this.#envd(request, machine, pathname, searchParams);
  };

  async #api(request: Request, path: string, query: URLSearchParams): Promise<Response> {
    if (request.headers.get("x-api-key") !== this.key) return json({ code: 401, message: "Invalid API key" }, 401);
    const id = path.split("/").at(-1) ?? "";
    const machine = this.machines.made.get(id);
    if (request.method === "POST" && path === "/v2/sandboxes") {
      const body = (await request.json()) as { templateID: string; metadata: Record<string, string>; envVars: Record<string, string> };
      if (request.headers.get("idempotency-key") === null || typeof body.templateID !== "string") return json({ code: 400, message: "bad request" }, 400);
      this.creations.push(body);
      return json(this.#shown(this.machines.create(body.envVars, Object.keys(body.metadata))), 201);
    }
    if (request.method === "GET" && path === "/v2/sandboxes") return this.#list(query);
    if (machine === undefined) return json({ code: 404, message: `Sandbox "${id}" doesn't exist` }, 404);
    if (request.method === "GET" && path === `/sandboxes/${id}`) return json({ ...this.#shown(machine), state: "running" });
    if (request.method === "DELETE" && path === `/sandboxes/${id}`) {
      this.machines.delete(id);
      return new Response(null, { status: 204 });
    }
    return json({ code: 404, message: "no such route" }, 404);
  }

  /** Pages of one, so that there are several. */
  #list(query: URLSearchParams): Response {
    const wanted = [...new URLSearchParams(query.get("metadata") ?? "")].map(([name]) => decodeURIComponent(name));
    const all = [...this.machines.made.values()].filter(({ labels }) => wanted.every((label) => labels.includes(label)));
    const at = Number(query.get("nextToken") ?? 0);
    const page = all.slice(at, at + 1).map((machine) => ({
      ...this.#shown(machine),
      startedAt: machine.madeAt.toISOString(),
      state: "running",
      metadata: Object.fromEntries(machine.labels.map((label) => [label, "label"])),
    }));
    return json(page, 200, at + 1 < all.length ? { "x-next-token": String(at + 1) } : {});
  }

  #shown = ({ id }: Machine) => ({ sandboxID: id, templateID: "base", clientID: "c", envdVersion: "0.5.8", envdAccessToken: `token-of-${id}`, domain: null });

  async #envd(request: Request, machine: Machine, path: string, query: URLSearchParams): Promise<Response> {
    const file = query.get("path") ?? "";
    if (path === "/health") return new Response(null, { status: 204 });
    if (path === "/files" && request.method === "POST") {
      const part = (await request.formData()).get("file");
      if (!(part instanceof Blob)) return json({ code: 400, message: "no file" }, 400);
      this.machines.write(machine, file, new Uint8Array(await part.arrayBuffer()));
      return json([{ path: file, name: file.split("/").at(-1), type: "file" }]);
    }
    if (path === "/files") {
      const content = this.machines.read(machine, file);
      return content === null ? json({ code: 404, message: `path '${file}' does not exist` }, 404) : new Response(content);
    }
    if (path !== "/process.Process/Start" || request.headers.get("content-type") !== "application/connect+json") return json({ code: "unimplemented" }, 404);
    const { process } = JSON.parse((await framedMessage(request)).toString()) as { process: { cmd: string; args: string[]; cwd?: string } };
    return connectAnswer("application/connect+json", (stream) =>
      this.machines.run(machine, process.cmd, process.args, process.cwd, (event) => {
        const say = (said: object): void => stream.write(Buffer.from(JSON.stringify({ event: said })));
        if ("start" in event) say({ start: { pid: event.start } });
        else if ("stdout" in event) say({ data: { stdout: event.stdout.toString("base64") } });
        else if ("stderr" in event) say({ data: { stderr: event.stderr.toString("base64") } });
        else {
          // What is 0 or false is left out.
          say({
            end: {
              ...(event.code === 0 ? {} : { exitCode: event.code ?? -1 }),
              ...(event.signal === null ? { exited: true, status: `exit status ${event.code}` } : { status: "signal: killed" }),
            },
          });
          stream.end();
        }
      }),
    );
  }
}
