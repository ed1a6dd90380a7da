import type { Grant, Holding, Vitals } from "../../../durable-objects/run/protocol.ts";
import type { EndpointSignal } from "../../../durable-objects/limiter/limiter.ts";
import { MAX_RELAYED_STREAM_CHARACTERS_LOCAL } from "../../limits.ts";
import { aroundClient } from "../../clients/around-client.ts";
import type { ClientPorts, Outlasting } from "../../clients/client.ts";
import { createClient } from "../../clients/create-client.ts";
import { EndpointPause } from "../../clients/endpoint-pause.ts";
import { Gate } from "../../clients/gate.ts";
import { Outage } from "../../clients/outage.ts";
import { shownUrl } from "../../clients/secrets.ts";
import { TokenLimitName } from "../../clients/openai/token-limit-name.ts";
import { ScoringChoices } from "../../clients/scoring/choices.ts";
import { callUrl } from "../../config/endpoints/providers.ts";
import { placesOf, type Replica, type RunConfig } from "../../config/plan/run-config.ts";
import type { BoundEndpoint, EnvironmentFetch } from "../../environments/definition/definition.ts";
import { isNone, ResponseModelMeter } from "../../metrics/response-models.ts";
import type { Client } from "../../rollouts/types.ts";
import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../../errors/codes.ts";
import type { EndpointKey } from "../../config/endpoints/secrets.ts";
import { EdgewiseError, failureOf, type Result } from "../../errors/result.ts";
import { RunSecrets } from "../../secrets/run-secrets.ts";
import { JudgeMeter } from "../../rollouts/state/judge-usage.ts";
import { DEFAULT_TEAM, runName } from "../../teams/team-name.ts";
import type { RunNotes } from "./notes.ts";
import type { ExecutorBudget, ExecutorPorts } from "../ports.ts";
import { NO_MODEL } from "../rescoring/no-model.ts";
import { outwardOf } from "./outward.ts";
import { PlaceHealth, Replicas } from "./replicas.ts";
import { RequestAges } from "./request-ages.ts";
import type { Slice } from "../slice.ts";

export interface OpenEndpoint {
  /** The client of a unit, bound to the place it is called at. */
  readonly clientOf: (unit: number) => Client;
  readonly vitals: () => Vitals;
  /** Lets no more requests through than that, of the model and of judges; tells how many are under way as they become fewer, until no more are. */
  readonly narrow: (holding: Holding, underWay: (requests: number, scoring: number) => void) => void;
  /** Gives the permits back. */
  readonly close: () => void;
}

/** A shorter absence is one of many things that happen to a request. */
const WORTH_TELLING_MS = 3_000;

type Notes = Pick<RunNotes, "retry" | "info" | "warning" | "answered">;

/** What all runs of an executor share of a place: a pause asked for by one stops all of them. */
interface Place {
  readonly pause: EndpointPause;
  readonly health: PlaceHealth;
  readonly limitName: TokenLimitName;
  readonly outage: Outage;
  readonly scoring: ScoringChoices;
}

const signalOf = (code: RolloutErrorCode): EndpointSignal["kind"] =>
  code === "rate_limited" ? "rate_limited" : ROLLOUT_ERRORS[code].category === "network" ? "unreachable" : "overloaded";

const isOneOrigin = (a: string, b: string): boolean => URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;

/** What is known of a place goes for one key of it: two teams may call different keys the same. */
const placeKey = ({ base_url, api_key_var }: Pick<Replica, "base_url" | "api_key_var">, config: RunConfig, secrets: RunSecrets): string =>
  `${base_url} ${api_key_var}${secrets.has(api_key_var) ? ` of ${config.team ?? DEFAULT_TEAM}` : ""}`;

/** Endpoints that an executor calls. */
export class Endpoints {
  readonly #ports: ExecutorPorts;
  readonly #slice: Slice;
  readonly #connections: Gate | null;
  readonly #patience: Pick<ExecutorBudget, "outage" | "firstAnswer">;
  readonly #places = new Map<string, Place>();
  /** Sends what environments at the other end of a network are told. */
  readonly outward: EnvironmentFetch;
  /** Gates of what environments call themselves. */
  readonly #judges = new WeakMap<Grant, Gate>();

  constructor(ports: ExecutorPorts, slice: Slice, { connections, ...patience }: Pick<ExecutorBudget, "connections" | "outage" | "firstAnswer">) {
    this.#ports = ports;
    this.#slice = slice;
    this.#patience = patience;
    this.#connections = connections === null ? null : new Gate(connections);
    this.outward = outwardOf(ports, slice, this.#connections);
  }

  /**
   * Clients for one grant, bound to the run's keys and limited together to the requests of the grant. The keys live in them and
   * nowhere else. Throws `missing_key`.
   */
  async open(grant: Grant, notes: Notes, secrets = RunSecrets.NONE): Promise<OpenEndpoint> {
    const { config } = grant;
    const holder = `${runName(config)}/${grant.ticket}-${grant.epoch}`;
    // Who scores again asks no model, and needs no key of one.
    const places = (config.rescored_from === undefined ? placesOf(config) : []).map((replica) => ({ replica, key: placeKey(replica, config, secrets) }));
    const limiters = places.map(({ key }) => this.#ports.limiter(key));
    const permits = await Promise.all(limiters.map((limiter) => limiter.acquire({ holder, wanted: grant.requests, ttl_ms: grant.lease_ms })));
    const gate = new Gate(
      Math.min(
        grant.requests,
        grant.generation ?? grant.requests,
        permits.reduce((sum, { granted }) => sum + granted, 0),
      ),
    );
    const answeredBefore = notes.answered;
    const tell = (work: Promise<void>): void => void work.catch((thrown: unknown) => this.#ports.log(`limiter: ${failureOf(thrown).message}`));
    let retries = 0;
    const ages = new RequestAges(this.#ports.now);
    const models = new ResponseModelMeter();
    const clients = places.map(({ replica, key }, at) => {
      const { pause, health, limitName, outage, scoring } = this.#place(key);
      const ports: Partial<ClientPorts> = {
        gate,
        pause,
        limitName,
        scoring,
        ...this.#outlasting(outage, replica.base_url, notes, () => grant.answered === true || notes.answered > answeredBefore),
        elsewhere: (code) => replicas.takes(code),
        onTaken: (answer) => models.count(answer),
        onRetry: (notice) => {
          retries++;
          notes.retry(notice);
          const told = limiters[at]?.report({ kind: signalOf(notice.code), until: pause.until });
          if (told !== undefined) tell(told);
        },
      };
      let told = 0;
      const onPassedOver = (until: number): void => {
        if (told === until) return;
        told = until;
        const seconds = Math.ceil((until - this.#ports.now()) / 1_000);
        notes.warning(
          `replica ${key}`,
          `the replica ${shownUrl(replica.base_url)} takes no connections; its units go to the others, and it is asked again in ${seconds} s`,
        );
      };
      return { client: ages.of(this.#client(config, replica, notes, ports, health, this.#keyOf(secrets, replica))), health, pause, onPassedOver };
    });
    const replicas = new Replicas(clients, { now: this.#ports.now, ms: this.#patience.outage });
    const pauses = clients.map(({ pause }) => pause);
    return {
      clientOf: (unit) => (clients.length === 0 ? NO_MODEL : replicas.clientOf(unit)),
      vitals: () => ({
        in_flight: gate.inFlight,
        oldest_ms: ages.oldest,
        progress: notes.answered - answeredBefore,
        ...(isNone(models.told) ? {} : { response_models: models.told }),
        retries,
        waiting: pauses.reduce((sum, { waiting }) => sum + waiting, 0),
        paused_until: pauses.length === 0 || pauses.some(({ until }) => until === null) ? null : Math.min(...pauses.map(({ until }) => until ?? 0)),
      }),
      narrow: ({ requests, generation = requests, scoring }, underWay) => {
        const judges = this.#judges.get(grant);
        // No request is under way where none is allowed; a gate of size 0 would let all through.
        gate.resize(Math.max(1, Math.min(requests, generation)));
        if (scoring !== undefined) judges?.resize(Math.max(1, scoring));
        const tell = (): void => underWay(gate.inFlight, judges?.inFlight ?? 0);
        judges?.watchFall(tell);
        gate.watchFall(tell);
      },
      close: () => {
        for (const limiter of limiters) tell(limiter.release(holder));
      },
    };
  }

  /**
   * Clients for the models that an environment calls itself, together under this grant's share of the run's limit for scoring. The
   * environment names place and key variable and never sees the key. They throw `missing_key`, and `invalid_request` for a place
   * that this key is not sent to. `declared`: variables whose values the environment has in any case. What they take is counted by `judges`.
   */
  bound(
    grant: Grant,
    notes: Notes,
    judges = new JudgeMeter(),
    declared: readonly string[] = [],
    secrets = RunSecrets.NONE,
  ): (endpoint: BoundEndpoint) => Client {
    const { config, scoring = 0 } = grant;
    const gate = new Gate(scoring);
    this.#judges.set(grant, gate);
    return ({ base_url, api_key_var, client_type = "openai_chat_completions" }) => {
      const problem = this.#judgeProblem(config, { base_url, api_key_var }, declared, secrets);
      if (problem !== null) throw new EdgewiseError("invalid_request", `environment ${config.env_id} calls a model: ${problem}`);
      const { pause, health, limitName, outage, scoring: choices } = this.#place(placeKey({ base_url, api_key_var }, config, secrets));
      judges.open();
      const ports: Partial<ClientPorts> = {
        gate,
        pause,
        limitName,
        scoring: choices,
        // The rollout that it judges is there already, and its score is worth the wait.
        ...this.#outlasting(outage, base_url, notes, () => true),
        onRetry: (notice) => notes.retry(notice),
        onAttempt: (state, usage) => judges.count(state, usage),
      };
      // Headers of the run are for the model under evaluation.
      const key = secrets.judgeKeyOf(this.#ports.keys, api_key_var, base_url) ?? this.#ports.keyOf(api_key_var, base_url);
      return this.#client({ api_client_type: client_type }, { base_url, api_key_var }, notes, ports, health, key);
    };
  }

  /** `answered`: whether anything was in the run, so that the place is known to be the right one. */
  #outlasting(outage: Outage, url: string, notes: Notes, answered: () => boolean): { readonly outlasting?: Outlasting } {
    const { outage: patience, firstAnswer } = this.#patience;
    if (patience === 0) return {};
    const patienceMs: Outlasting["patienceMs"] = (code) => {
      if (answered()) return patience;
      return ROLLOUT_ERRORS[code].category === "network" ? firstAnswer : 0;
    };
    let told = 0;
    const outlasting: Outlasting = {
      outage,
      patienceMs,
      onGone: (code) => {
        const { age, spell } = outage;
        if (age === null || age < WORTH_TELLING_MS || told === spell) return;
        told = spell;
        const seconds = Math.round(patienceMs(code) / 1_000);
        notes.warning(`gone ${url} ${spell}`, `${shownUrl(url)} answers nobody (${code}); one request at a time asks again, for up to ${seconds} s`);
      },
      onBack: () => {
        if (told === 0 || outage.age !== null) return;
        notes.warning(`back ${url} ${told}`, `${shownUrl(url)} answers again, after ${Math.round(outage.lastMs / 1_000)} s`);
        told = 0;
      },
    };
    return { outlasting };
  }

  /** The user of an attended run has chosen the environment with the keys that it declares, and named one place for one key; all else is as for a request. */
  #judgeProblem(config: RunConfig, place: Pick<BoundEndpoint, "base_url" | "api_key_var">, declared: readonly string[], secrets: RunSecrets): string | null {
    const { base_url, api_key_var } = place;
    const given = Object.hasOwn(secrets.given, api_key_var);
    const ofSecret = given ? null : secrets.placeProblem(api_key_var, base_url);
    // A key of the team has rules of its own; that the address is one to call has to be asked all the same.
    if (ofSecret !== undefined) return ofSecret ?? (config.attended ? null : this.#ports.addressProblem(base_url));
    // An address that the uploaded folder of a run brings is nobody's word.
    const places = config.rescored_from?.results === undefined ? placesOf(config) : [];
    const named = declared.includes(api_key_var) || places.some((own) => own.api_key_var === api_key_var && isOneOrigin(own.base_url, base_url));
    const problem = config.attended && named ? null : this.#ports.placeProblem(place);
    return problem === null || !config.attended ? problem : `${problem}; or the environment declares ${api_key_var} among its \`keys\``;
  }

  #client(
    config: Pick<RunConfig, "api_client_type" | "headers" | "headers_from_state">,
    { base_url, api_key_var, headers }: Replica,
    notes: Notes,
    ports: Partial<ClientPorts>,
    health: PlaceHealth,
    key: Result<EndpointKey>,
  ): Client {
    if (!key.ok) throw new EdgewiseError(key.error.code, key.error.message, key.error.hint === undefined ? {} : { hint: key.error.hint });
    const { now, sleep, random, ai } = this.#ports;
    const client = createClient(
      config.api_client_type,
      {
        base_url: callUrl(base_url),
        api_key: key.value.key,
        api_key_var,
        headers: { ...headers, ...config.headers, ...key.value.headers },
        ...(config.headers_from_state === undefined ? {} : { headers_from_state: config.headers_from_state }),
      },
      {
        now,
        sleep,
        random,
        ...(this.#connections === null ? { relayedCharacters: MAX_RELAYED_STREAM_CHARACTERS_LOCAL } : { connections: this.#connections }),
        ...(ai === null ? {} : { ai: { run: (...call) => this.#spending(() => ai.run(...call)) } }),
        fetch: async (url, init) => {
          try {
            const response = await this.#spending(() => this.#ports.fetch(url, init));
            health.reached();
            return response;
          } catch (thrown) {
            if (!init?.signal?.aborted) health.refused();
            throw thrown;
          }
        },
        onWarning: (kind, message) => notes.warning(kind, message),
        onNote: (message) => notes.info(message),
        timeouts: {},
        ...ports,
      },
    );
    // Environments hold it, and nothing of it leads to the key.
    return aroundClient(client, async (request, ask) => {
      const answer = await ask(request);
      notes.answered++;
      return answer;
    });
  }

  /** A request of this executor that no model takes: within its connections, and counted. */
  readonly fetch: ExecutorPorts["fetch"] = async (url, init) => {
    await this.#connections?.enter(init?.signal);
    try {
      return await this.#spending(() => this.#ports.fetch(url, init));
    } finally {
      this.#connections?.leave();
    }
  };

  #keyOf(secrets: RunSecrets, { base_url, api_key_var }: Replica): Result<EndpointKey> {
    return secrets.keyOf(this.#ports.keys, api_key_var, base_url) ?? this.#ports.keyOf(api_key_var, base_url);
  }

  #spending<T>(call: () => Promise<T>): Promise<T> {
    this.#slice.spend();
    return call();
  }

  #place(key: string): Place {
    const known = this.#places.get(key) ?? {
      pause: new EndpointPause(this.#ports),
      health: new PlaceHealth(this.#ports.now),
      limitName: new TokenLimitName(),
      outage: new Outage(this.#ports.now),
      scoring: new ScoringChoices(this.#ports.now),
    };
    this.#places.set(key, known);
    return known;
  }
}
