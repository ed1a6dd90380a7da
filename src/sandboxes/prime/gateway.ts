import { again } from "../wire/again.ts";
import { ask, isRecord, type ProviderRequest, ProviderRefusal, textIn } from "../wire/provider-http.ts";
import type { DriverHost } from "../driver.ts";
import { PROVIDER } from "./prime-wire.ts";

/** What one sandbox is reached with, for a while. */
interface Pass {
  readonly base: string;
  readonly token: string;
  /** Unix milliseconds. */
  readonly until: number;
}

/** A pass is renewed so long before it ends. */
const MARGIN_MS = 60_000;

/** The gateway to sandboxes of Prime: each is called with a pass of its own, which is asked for and renewed here. */
export class Gateway {
  readonly #host: DriverHost;
  readonly #passFor: (id: string) => Promise<unknown>;
  readonly #passes = new Map<string, Promise<Pass>>();

  /** `passFor` asks Prime for a pass. */
  constructor(host: DriverHost, passFor: (id: string) => Promise<unknown>) {
    this.#host = host;
    this.#passFor = passFor;
  }

  /** One came with the sandbox itself. */
  seed(id: string, answer: unknown): void {
    if (isRecord(answer)) this.#passes.set(id, Promise.resolve(passIn(answer)));
  }

  forget(id: string): void {
    this.#passes.delete(id);
  }

  /** One request to a sandbox, again with a new pass where the one that it had counts no more. */
  async ask(id: string, path: string, request: ProviderRequest): Promise<Response> {
    const send = async (): Promise<Response> => {
      const { base, token } = await this.#pass(id);
      return await ask(this.#host, PROVIDER, `${base}${path}`, { ...request, headers: { ...request.headers, Authorization: `Bearer ${token}` } });
    };
    try {
      return await send();
    } catch (thrown) {
      if (!(thrown instanceof ProviderRefusal && thrown.status === 401)) throw thrown;
      this.forget(id);
      return await send();
    }
  }

  /** The same for what may be asked twice. */
  askAgain(id: string, path: string, request: () => ProviderRequest): Promise<Response> {
    return again(() => this.ask(id, path, request()), this.#host.sleep);
  }

  async #pass(id: string): Promise<Pass> {
    const known = await this.#passes.get(id);
    if (known !== undefined && this.#host.now() < known.until - MARGIN_MS) return known;
    const asked = again(() => this.#passFor(id), this.#host.sleep).then(passIn);
    this.#passes.set(id, asked);
    asked.catch(() => this.#passes.delete(id));
    return await asked;
  }
}

function passIn(answer: unknown): Pass {
  const [url, space, job] = ["gateway_url", "user_ns", "job_id"].map((field) => textIn(PROVIDER, answer, field));
  const until = Date.parse(textIn(PROVIDER, answer, "expires_at"));
  return { base: `${(url ?? "").replace(/\/+$/, "")}/${space}/${job}`, token: textIn(PROVIDER, answer, "token"), until: Number.isNaN(until) ? 0 : until };
}
