import type { Overspent } from "../../../durable-objects/budget/budget-control.ts";
import type { Grant, Holding, Vitals } from "../../../durable-objects/run/protocol.ts";
import type { Batched } from "../../clients/batching/batch-route.ts";
import type { ClientPorts, Outlasting, Permits } from "../../clients/client.ts";
import { Gate } from "../../clients/gate.ts";
import { shownUrl } from "../../clients/secrets.ts";
import { budgetsFor } from "../../budgets/budget-name.ts";
import { placesOf, type Replica, type RunConfig } from "../../config/plan/run-config.ts";
import type { BoundEndpoint, EnvironmentFetch } from "../../environments/definition/definition.ts";
import { isNone, ResponseModelMeter } from "../../metrics/response-models.ts";
import type { Price } from "../../prices/price.ts";
import { priceOf } from "../../prices/price-of.ts";
import type { Client } from "../../rollouts/types.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { RunSecrets } from "../../secrets/run-secrets.ts";
import type { CacheMeter } from "../../rollouts/state/cache-meter.ts";
import { JudgeMeter } from "../../rollouts/state/judge-usage.ts";
import { ExecutorAnswers } from "../answers/executor-answers.ts";
import type { AskedPlace } from "../answers/question.ts";
import type { RunNotes } from "./notes.ts";
import { type CalledPlace, type HeldBy, type HeldPermits, LimiterLinks } from "../limiting/limiter-links.ts";
import type { ExecutorBudget, ExecutorPorts } from "../ports.ts";
import { askedPlace } from "./asked-place.ts";
import { countedBy } from "./counted-answers.ts";
import { NO_MODEL } from "../rescoring/no-model.ts";
import { clientByModel } from "./judge-clients.ts";
import { tellOverBudget } from "../over-budget.ts";
import { Purses } from "../spending/purses.ts";
import { type BatchPlace, EndpointClients } from "./endpoint-clients.ts";
import { notedJudges } from "./noted-judges.ts";
import { outwardOf } from "./outward.ts";
import { isOutOfPatience, type OutlastedPlace, outlastingOf } from "./patience.ts";
import { type Place, Places } from "./places.ts";
import { type ReplicaPlace, Replicas } from "./replicas.ts";
import { RequestAges } from "./request-ages.ts";
import type { Slice } from "../slice.ts";
import { type HeldPlace, isUnpaid, waitingOf } from "./waiting.ts";

export interface OpenEndpoint {
  /** The client of a unit, bound to the place it is called at. */
  readonly clientOf: (unit: number) => Client;
  readonly vitals: () => Vitals;
  /** Lets as many requests through as that, of the model and of judges, and no more; tells how many are under way as they become fewer, until no more are. */
  readonly narrow: (holding: Holding, underWay: (requests: number, scoring: number) => void) => void;
  /** Whether calls wait that no budget will pay for, of the model or of judges, and none is under way or waits for anything else. */
  readonly isUnpaid: () => boolean;
  /** The weight of the run beside others, at all its places. */
  readonly weigh: (priority: number) => void;
  /** Gives the permits back. */
  readonly close: () => void;
}

type Notes = Pick<RunNotes, "retry" | "info" | "warning" | "answered">;

/** Of what the environment of one grant calls. */
interface Judges {
  readonly gate: Gate;
  readonly held: HeldPermits[];
  /** It calls nothing any more, but for what is late. */
  isOver: boolean;
}

/** One of its own for each holder, so that it is told of by itself. */
const warningOf =
  (notes: Notes): HeldBy["warning"] =>
  (kind, message) =>
    notes.warning(kind, message);

const isOneOrigin = (a: string, b: string): boolean => URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;

/** Endpoints that an executor calls. */
export class Endpoints {
  readonly #ports: ExecutorPorts;
  readonly #clients: EndpointClients;
  readonly #patience: Pick<ExecutorBudget, "outage" | "firstAnswer">;
  readonly #batchSettle: number | undefined;
  readonly #places: Places;
  readonly #links: LimiterLinks;
  readonly #answers: ExecutorAnswers;
  readonly #purses: Purses;
  /** Whose runs know that too little is left for them. */
  readonly #over = new WeakSet<Grant>();
  /** Sends what environments at the other end of a network are told. */
  readonly outward: EnvironmentFetch;
  /** A request of this executor that no model takes: within its connections, and counted. */
  readonly fetch: ExecutorPorts["fetch"];
  /** Of what environments call themselves. */
  readonly #judges = new WeakMap<Grant, Judges>();

  constructor(
    ports: ExecutorPorts,
    slice: Slice,
    { connections, storm, settle, ...patience }: Pick<ExecutorBudget, "connections" | "outage" | "firstAnswer" | "storm" | "settle">,
  ) {
    this.#batchSettle = settle;
    this.#ports = ports;
    this.#patience = patience;
    const shared = connections === null ? null : new Gate(connections);
    this.#clients = new EndpointClients(ports, slice, shared);
    this.fetch = this.#clients.fetch;
    this.#places = new Places(ports, storm);
    this.#links = new LimiterLinks(ports, slice);
    this.#answers = new ExecutorAnswers(ports, slice, shared);
    this.#purses = new Purses(ports, slice);
    this.outward = outwardOf(ports, slice, shared);
  }

  /**
   * Clients for one grant, bound to the run's keys and limited together to the requests of the grant. The keys live in them and
   * nowhere else. `cache` counts how calls are answered. `batched`: who answers instead of the places, which nothing is sent to then. Throws `missing_key`.
   */
  async open(grant: Grant, notes: Notes, secrets = RunSecrets.NONE, cache: CacheMeter | undefined = undefined, batched?: Batched): Promise<OpenEndpoint> {
    const { config } = grant;
    // Who scores again asks no model, and needs no key of one.
    const places = (config.rescored_from === undefined ? placesOf(config) : []).map((replica) => {
      const key = this.#clients.keyOf(secrets, replica);
      return { replica, key, place: this.#places.of(replica, config.model, config, secrets) };
    });
    const gate = new Gate(Math.min(grant.requests, grant.generation ?? grant.requests));
    const answeredBefore = notes.answered;
    const answered = (): boolean => grant.answered === true || notes.answered > answeredBefore;
    let retries = 0;
    const ages = new RequestAges(this.#ports.now);
    const models = new ResponseModelMeter();
    const held: HeldPlace[] = [];
    const opened = places.map(async ({ replica, key, place }): Promise<ReplicaPlace> => {
      const { base_url: url, api_key_var } = replica;
      const outlasting = outlastingOf(this.#patience, { outage: place.outage, url, notes, answered, ...this.#paid(config, api_key_var) });
      const passes = (): boolean => isOutOfPatience(place, outlasting) || replicas.takes("connection_failed");
      const called = { base_url: url, api_key_var, key: key.key, model: config.model };
      const by = { config, kind: "model" as const, gate, outage: place.outage, passes, warning: warningOf(notes) };
      const own = batched === undefined ? await this.#hold(called, by, grant) : null;
      if (own !== null) held.push({ pause: place.pause, held: own });
      const client = this.#clients.client(config, replica, notes, place, key, {
        ...this.#answersOf(config, askedPlace(config, replica), notes, (state, usage) => cache?.tookKept(state, "model", usage)),
        gate: own?.permits ?? gate,
        ...(batched === undefined ? {} : { batched }),
        ...(outlasting === null ? {} : { outlasting }),
        elsewhere: (code) => replicas.takes(code),
        onTaken: (answer) => models.count(answer),
        onRetry: (notice) => {
          retries++;
          notes.retry(notice);
        },
      });
      return { client: ages.of(countedBy(cache, "model", client)), health: place.health, onPassedOver: this.#passedOver(replica, notes) };
    });
    const close = (): void => {
      this.#answers.forget(notes);
      for (const each of held) each.held.close();
    };
    const settled = await Promise.allSettled(opened);
    const broken = settled.find((each) => each.status === "rejected");
    if (broken !== undefined) {
      close();
      throw broken.reason;
    }
    const replicas = new Replicas(
      settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])),
      { now: this.#ports.now, ms: this.#patience.outage },
    );
    return {
      clientOf: (unit) => (places.length === 0 ? NO_MODEL : replicas.clientOf(unit)),
      vitals: () => ({
        in_flight: gate.inFlight,
        oldest_ms: ages.oldest,
        progress: notes.answered - answeredBefore,
        ...(isNone(models.told) ? {} : { response_models: models.told }),
        retries,
        ...waitingOf(held, this.#judges.get(grant)?.held ?? []),
      }),
      narrow: ({ requests, generation = requests, scoring }, underWay) => {
        const judges = this.#judges.get(grant)?.gate;
        if (requests === 0) gate.shut();
        else gate.resize(Math.max(1, Math.min(requests, generation)));
        judges?.resize(scoring === undefined ? 0 : Math.max(1, scoring));
        const tell = (): void => underWay(gate.inFlight, judges?.inFlight ?? 0);
        judges?.watchFall(tell);
        gate.watchFall(tell);
      },
      isUnpaid: () => {
        const judges = this.#judges.get(grant);
        return isUnpaid([...held.map((each) => each.held), ...(judges?.held ?? [])], gate.inFlight + (judges?.gate.inFlight ?? 0));
      },
      weigh: (priority) => {
        for (const each of held) each.held.weigh(priority);
        for (const each of this.#judges.get(grant)?.held ?? []) each.weigh(priority);
      },
      close,
    };
  }

  /** The places of a run as its jobs are brought there. Throws `missing_key`. */
  batchPlaces({ config }: Grant, notes: Notes, secrets = RunSecrets.NONE): readonly BatchPlace[] {
    return placesOf(config).map((replica) => this.#clients.batches(config, replica, notes, this.#clients.keyOf(secrets, replica), this.#batchSettle));
  }

  #passedOver({ base_url, api_key_var }: Replica, notes: Notes): ReplicaPlace["onPassedOver"] {
    let told = 0;
    return (until) => {
      if (told === until) return;
      told = until;
      const seconds = Math.ceil((until - this.#ports.now()) / 1_000);
      notes.warning(
        `replica ${base_url} ${api_key_var}`,
        `the replica ${shownUrl(base_url)} takes no connections; its units go to the others, and it is asked again in ${seconds} s`,
      );
    };
  }

  /**
   * Clients for the models that an environment calls itself, together under this grant's share of the run's limit for scoring. The
   * environment names place and key variable and never sees the key. They throw `missing_key`, and `invalid_request` for a place
   * that this key is not sent to. `declared`: variables whose values the environment has in any case. What they take is counted by `judges`,
   * and how they are answered by `cache`.
   */
  bound(
    grant: Grant,
    notes: Notes,
    judges = new JudgeMeter(),
    declared: readonly string[] = [],
    secrets = RunSecrets.NONE,
    cache: CacheMeter | undefined = undefined,
  ): (endpoint: BoundEndpoint) => Client {
    const { config, scoring = 0 } = grant;
    const gate = new Gate(scoring);
    const own: Judges = { gate, held: [], isOver: false };
    this.#judges.set(grant, own);
    return ({ base_url, api_key_var, client_type = "openai_chat_completions" }) => {
      const called = { base_url, api_key_var };
      const problem = this.#judgeProblem(config, called, declared, secrets);
      if (problem !== null) throw new EdgewiseError("invalid_request", `environment ${config.env_id} calls a model: ${problem}`);
      const key = this.#clients.judgeKeyOf(secrets, called);
      judges.open();
      const clientOf = (place: Place, permits: Permits, outlasting: Outlasting | null, price: Price | null): Client =>
        // Headers of the run are for the model under evaluation.
        this.#clients.client({ api_client_type: client_type }, called, notes, place, key, {
          ...this.#answersOf(config, { role: "judges", base_url, client_type, headers: {} }, notes, (state, usage) => {
            cache?.tookKept(state, "judges", usage);
            judges.countKept(state, usage, price);
          }),
          gate: permits,
          ...(outlasting === null ? {} : { outlasting }),
          onRetry: (notice) => notes.retry(notice),
          onAttempt: (state, usage, answered) => judges.count(state, usage, answered, price),
        });
      const client = clientByModel(clientOf(this.#places.of(called, "", config, secrets), gate, null, null), async (model) => {
        const place = this.#places.of(called, model, config, secrets);
        // The rollout that it judges is there already, and its score is worth the wait.
        const outlasting = outlastingOf(this.#patience, {
          outage: place.outage,
          url: base_url,
          notes,
          answered: () => true,
          ...this.#paid(config, api_key_var),
        });
        const passes = (): boolean => isOutOfPatience(place, outlasting);
        const asked = { ...called, key: key.key, model };
        const held = await this.#hold(asked, { config, kind: "judges", gate, outage: place.outage, passes, warning: warningOf(notes) }, grant);
        own.held.push(held);
        if (own.isOver) held.close();
        const price = config.prices === undefined ? null : priceOf(config.prices, { base_url, model });
        return clientOf(place, held.permits, outlasting, price);
      });
      return countedBy(cache, "judges", notedJudges(config, client));
    };
  }

  /** The environment of the grant calls nothing any more. */
  endJudges(grant: Grant): void {
    const judges = this.#judges.get(grant);
    if (judges === undefined) return;
    judges.isOver = true;
    for (const each of judges.held) each.close();
  }

  /** Nothing where the run has every request sent. */
  #answersOf(
    { cache, team }: RunConfig,
    place: Omit<AskedPlace, "team">,
    notes: Notes,
    onCached: ClientPorts["onCached"],
  ): Pick<ClientPorts, "answers" | "onCached"> {
    if (cache === undefined) return {};
    const answers = this.#answers.of(cache, { ...place, team }, notes);
    return answers === undefined ? {} : { answers, onCached };
  }

  /** A grant is over: what it was paid from has all that was spent, and what is not in use. Waits a moment at most. */
  settle(): Promise<void> {
    return this.#purses.rest();
  }

  /** This executor calls nothing any more; waits a moment for those that share limits with it to know. */
  leave(): Promise<void> {
    this.#answers.leave();
    return Promise.all([this.#links.leave(), this.#purses.leave()]).then(() => undefined);
  }

  #paid(config: RunConfig, variable: string): Pick<OutlastedPlace, "isPaid" | "fetch"> {
    return { isPaid: budgetsFor(config, variable).length > 0, fetch: this.fetch };
  }

  /** Permits at one place, by what is shared of its limits and of the money for it. Throws where it is to be paid and cannot be. */
  async #hold(called: CalledPlace, by: HeldBy, grant: Grant): Promise<HeldPermits> {
    const held = await this.#links.hold(called, by);
    const onOver = (budget: string, over: Overspent): void => {
      if (this.#over.has(grant)) return;
      this.#over.add(grant);
      void tellOverBudget(this.#ports, grant, { budget, over });
    };
    try {
      return this.#purses.pay(held, { ...by, ...called, onOver });
    } catch (thrown) {
      held.close();
      throw thrown;
    }
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
}
