import type { Bound } from "../../../durable-objects/limiter/limiter-control.ts";
import type { Permits } from "../../clients/client.ts";
import type { Gate } from "../../clients/gate.ts";
import type { Outage } from "../../clients/outage.ts";
import { timerOf } from "../../clients/transport/timer.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { capsOf } from "../../endpoint-limits/given-limit.ts";
import { DEFAULT_PRIORITY } from "../../endpoint-limits/limit-kinds.ts";
import { limiterName, placeUrl } from "../../endpoint-limits/limiter-name.ts";
import { modelClass } from "../../endpoint-limits/model-class.ts";
import { failureOf } from "../../errors/result.ts";
import { DEFAULT_TEAM, runName } from "../../teams/team-name.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";
import { LimiterLink } from "./limiter-link.ts";

/** An executor that ends waits no longer for its Limiters to know it. Milliseconds. */
const LEAVE_MS = 1_000;

/** Where requests are sent, with the value of the key: it is gone once the Limiter's name is made of it. */
export interface CalledPlace {
  readonly base_url: string;
  readonly api_key_var: string;
  readonly key: string;
  readonly model: string;
}

export interface HeldBy {
  readonly config: RunConfig;
  readonly kind: "model" | "judges";
  /** Of the grant. */
  readonly gate: Gate;
  /** What is known of the place being gone; it hears of what the Limiter knows. */
  readonly outage: Outage;
  /** Whether a request is to be sent though the endpoint is down and it is not its turn. */
  readonly passes: () => boolean;
  readonly warning: (kind: string, message: string) => void;
}

/** Permits for the requests of one grant at one place. */
export interface HeldPermits {
  readonly permits: Permits;
  /** Without credentials and query. */
  readonly base_url: string;
  /** Requests that the Limiter keeps waiting. */
  readonly waiting: number;
  /** Those that wait though no budget will pay for them; absent = none holds. */
  readonly unpaid?: number;
  /** By the clock of the ports, until when the Limiter has the endpoint left alone; null = it does not. */
  readonly pausedUntil: number | null;
  /** What keeps them waiting; null = nothing does. */
  readonly bound: Bound | null;
  /** The weight of the run from now on. */
  readonly weigh: (priority: number) => void;
  readonly close: () => void;
}

interface Linked {
  readonly link: LimiterLink;
  /** Those that are told when its Limiter cannot be asked. */
  readonly warned: Set<HeldBy["warning"]>;
}

/** The links of one executor, one for each Limiter whose endpoint it calls. */
export class LimiterLinks {
  readonly #ports: ExecutorPorts;
  readonly #slice: Pick<Slice, "spend">;
  /** By the names of their Limiters: keys of different names may be one. */
  readonly #links = new Map<string, Linked>();
  #holders = 0;

  constructor(ports: ExecutorPorts, slice: Pick<Slice, "spend">) {
    this.#ports = ports;
    this.#slice = slice;
  }

  /** Where there are no Limiters the grant's gate is all there is. */
  async hold({ key, model, ...place }: CalledPlace, { config, kind, gate, outage, passes, warning }: HeldBy): Promise<HeldPermits> {
    const model_class = modelClass(place.base_url, model);
    const name = await limiterName({ base_url: place.base_url, key, model_class });
    const { api_key_var } = place;
    const limited = { base_url: placeUrl(place.base_url), api_key_var, model_class };
    const caps = capsOf(config, limited, kind);
    if (this.#ports.limiter(name) === null) {
      if (caps.length > 0)
        warning(
          `limiter none ${name}`,
          `requests to ${limited.base_url} keep to no common limit: this service has no Limiters (its wrangler.toml is of before)`,
        );
      return ungoverned(gate, limited.base_url);
    }
    const { link, warned } = this.#linked(name, limited);
    outage.shared = link.circuit;
    warned.add(warning);
    const holder = link.open({
      id: String(++this.#holders),
      run: runName(config),
      team: config.team ?? DEFAULT_TEAM,
      kind,
      priority: config.priority ?? DEFAULT_PRIORITY,
      caps,
      gate,
      passes,
    });
    return {
      permits: holder,
      base_url: limited.base_url,
      get waiting() {
        return holder.waiting;
      },
      get pausedUntil() {
        return link.pausedUntil;
      },
      get bound() {
        // A pause and an outage are everybody's.
        const all = holder.waiting === 0 ? null : link.bound;
        return all?.kind === "pause" || all?.kind === "down" ? all : holder.bound;
      },
      weigh: (priority) => holder.weigh(priority),
      close: () => {
        warned.delete(warning);
        holder.close();
      },
    };
  }

  /** Tells all Limiters that this executor has nothing more there; waits a moment at most. */
  async leave(): Promise<void> {
    const off = new AbortController();
    const all = Promise.all([...this.#links.values()].map(({ link }) => new Promise<void>((left) => link.leave(left))));
    const late = this.#ports.sleep(LEAVE_MS, off.signal).catch(() => undefined);
    await Promise.race([all, late]);
    off.abort();
  }

  #linked(name: string, place: LimiterLink["name"]["place"]): Linked {
    const known = this.#links.get(name);
    if (known !== undefined) return known;
    const { id, boot, runtime, now, sleep, random } = this.#ports;
    const warned = new Set<HeldBy["warning"]>();
    const tell = (kind: string, message: string): void => {
      for (const warning of warned) warning(`${kind} ${name}`, message);
    };
    const link = new LimiterLink(
      { executor: id, boot, runtime, place },
      {
        now,
        timer: timerOf(sleep),
        random,
        send: (request, answered, failed) => {
          this.#slice.spend();
          const limiter = this.#ports.limiter(name);
          if (limiter === null) return failed("there is none any more");
          limiter
            .exchange(request)
            .then(answered, (thrown: unknown) => failed(failureOf(thrown).message))
            .catch((thrown: unknown) => this.#ports.log(`limiter of ${place.base_url}: ${failureOf(thrown).message}`));
        },
        onTrouble: (kind, message) => {
          if (kind === "silent")
            tell(
              "limiter silent",
              `what limits requests to ${place.base_url} does not answer (${message}); it is asked again, and nothing begins that it has to allow`,
            );
          if (kind === "gone")
            tell(
              "limiter gone",
              `what limits requests to ${place.base_url} has not answered for minutes (${message}); until it does they keep to the run's own limit alone`,
            );
          if (kind === "refused") tell("limiter refused", `requests to ${place.base_url} keep to no common limit: ${message}`);
        },
      },
    );
    const made = { link, warned };
    this.#links.set(name, made);
    return made;
  }
}

const ungoverned = (gate: Gate, base_url: string): HeldPermits => ({
  permits: gate,
  base_url,
  waiting: 0,
  pausedUntil: null,
  bound: null,
  weigh: () => undefined,
  close: () => undefined,
});
