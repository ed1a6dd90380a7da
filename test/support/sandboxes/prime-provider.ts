import { concat, fieldsOf, lengthField, varint } from "../../../src/sandboxes/wire/protobuf.ts";
import { connectAnswer, framedMessage, json, type Machine, Machines } from "./machines.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const number = (field: number, value: number): Uint8Array => concat(varint(field * 8), varint(value));
/** A `sint32`: what is below 0 is odd. */
const signed = (field: number, value: number): Uint8Array => number(field, value < 0 ? -2 * value - 1 : 2 * value);

/** Prime as its package 0.5.1 speaks with it, over machines of this one. `fetch` is the network. */
export class PrimeProvider {
  readonly machines = new Machines();
  readonly key: string = "pit_0123456789";
  readonly creations: Record<string, unknown>[] = [];
  /** Answers of the given status come first. */
  failing: number[] = [];
  /** Passes that count no more. */
  readonly ended = new Set<string>();
  #passes = 0;

  readonly fetch = async (url: string, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    request.signal.throwIfAborted();
    const failing = this.failing.shift();
    if (failing !== undefined) return json({ detail: "not now" }, failing);
    const { hostname, pathname, searchParams } = new URL(url);
    if (hostname === "api.primeintellect.ai" && pathname.startsWith("/api/v1/sandbox"))
      return this.#api(request, pathname.slice("/api/v1/sandbox".length), searchParams);
    const [, space, id = "", path = ""] = /^\/([^/]+)\/([^/]+)(\/.+)$/.exec(pathname) ?? [];
    const machine = this.machines.made.get(id);
    if (hostname !== "gateway.example" || space !== "ns") return json({ error: "no such place" }, 404);
    if (machine === undefined) return json({ error: "sandbox_not_found", message: `sandbox ${id} was not found` }, 502);
    const pass = request.headers.get("authorization") ?? "";
    if (!pass.startsWith(`Bearer pass-of-${id}-`) || this.ended.has(pass.slice(7))) return json({ error: "unauthorized" }, 401);
    return this.#gateway(request, machine, path, searchParams);
  };

  async #api(request: Request, path: string, query: URLSearchParams): Promise<Response> {
    if (request.headers.get("authorization") !== `Bearer ${this.key}`) return json({ detail: "Invalid API key" }, 401);
    if (request.method === "POST" && path === "") {
      const body = (await request.json()) as { vm?: unknown; idempotency_key?: unknown; environment_vars: Record<string, string>; labels: string[] };
      if (body.vm !== true || typeof body.idempotency_key !== "string") return json({ detail: "bad request" }, 422);
      this.creations.push(body as never);
      return json(this.#shown(this.machines.create(body.environment_vars, body.labels)));
    }
    if (request.method === "DELETE" && path === "") {
      const { sandbox_ids } = (await request.json()) as { sandbox_ids: string[] };
      const succeeded = sandbox_ids.filter((id) => this.machines.delete(id));
      const failed = sandbox_ids.filter((id) => !succeeded.includes(id)).map((id) => ({ sandbox_id: id, error: "Sandbox not found" }));
      return json({ succeeded, failed, message: "" });
    }
    if (path === "") return this.#list(query);
    const [, id = "", what = ""] = path.split("/");
    const machine = this.machines.made.get(id);
    if (machine === undefined) return json({ detail: "Sandbox not found" }, 404);
    if (request.method === "POST" && what === "auth") return json(this.#pass(id));
    return json(this.#shown(machine));
  }

  /** Pages of one, so that there are several. */
  #list(query: URLSearchParams): Response {
    const wanted = query.getAll("labels");
    const all = [...this.machines.made.values()].filter(({ labels }) => wanted.every((label) => labels.includes(label)));
    const page = Number(query.get("page"));
    return json({ sandboxes: all.slice(page - 1, page).map((each) => this.#shown(each)), total: all.length, page, perPage: 1, hasNext: page < all.length });
  }

  #pass(id: string) {
    return {
      gateway_url: "https://gateway.example/",
      user_ns: "ns",
      job_id: id,
      token: `pass-of-${id}-${++this.#passes}`,
      expires_at: new Date(Date.now() + 600_000).toISOString(),
    };
  }

  #shown({ id, labels, madeAt }: Machine) {
    return { id, name: id, dockerImage: "python:3.11-slim", status: "RUNNING", labels, createdAt: madeAt.toISOString() };
  }

  async #gateway(request: Request, machine: Machine, path: string, query: URLSearchParams): Promise<Response> {
    const file = query.get("path") ?? "";
    if (path === "/upload") {
      const part = (await request.formData()).get("file");
      if (!(part instanceof Blob) || query.get("sandbox_id") !== machine.id) return json({ detail: "no file" }, 422);
      this.machines.write(machine, file, new Uint8Array(await part.arrayBuffer()));
      return json({ success: true, path: file, size: part.size, timestamp: new Date().toISOString() });
    }
    if (path === "/download") {
      const content = this.machines.read(machine, file);
      return content === null ? json({ detail: "File not found" }, 404) : new Response(content);
    }
    if (path !== "/command_session.CommandSession/Start" || request.headers.get("content-type") !== "application/connect+proto") return json({}, 404);
    const [spec] = [...fieldsOf(await framedMessage(request))].flatMap((each) => (each.field === 1 && "bytes" in each ? [each.bytes] : []));
    const fields = [...fieldsOf(spec ?? new Uint8Array())].flatMap((each) => ("bytes" in each ? [[each.field, text(each.bytes)] as const] : []));
    const [cmd = "", args, cwd] = [
      fields.find(([field]) => field === 1)?.[1],
      fields.filter(([field]) => field === 2).map(([, value]) => value),
      fields.find(([field]) => field === 4)?.[1],
    ];
    return connectAnswer("application/connect+proto", (stream) =>
      this.machines.run(machine, cmd, args, cwd, (event) => {
        const say = (field: number, message: Uint8Array): void => stream.write(lengthField(1, lengthField(field, message)));
        say(4, new Uint8Array());
        if ("start" in event) say(1, number(1, event.start));
        else if ("stdout" in event) say(2, lengthField(1, event.stdout));
        else if ("stderr" in event) say(2, lengthField(2, event.stderr));
        else {
          say(
            3,
            concat(
              signed(1, event.code ?? -1),
              number(2, event.signal === null ? 1 : 0),
              lengthField(3, event.signal === null ? `exit status ${event.code}` : "signal: killed"),
            ),
          );
          stream.end();
        }
      }),
    );
  }
}
