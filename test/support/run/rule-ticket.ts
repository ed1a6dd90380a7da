import { unboundedBytes } from "./unbounded-bytes.ts";
import { Isolate } from "../../../src/executor/session/isolate.ts";
import { JudgeMeter } from "../../../src/rollouts/state/judge-usage.ts";
import type { CommitCall, CommitPiece, CommitUnit, Grant } from "../../../durable-objects/run/protocol.ts";
import type { Request, TransitionName } from "../../../durable-objects/run/transition.ts";
import { Gate } from "../../../src/clients/gate.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { Client } from "../../../src/rollouts/types.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { EdgewiseError, ok } from "../../../src/errors/result.ts";
import type { ExecutorBudget, ExecutorPorts, ExecutorStore, RunStub } from "../../../src/executor/ports.ts";
import { SavedRows } from "../../../src/executor/units/saved-rows.ts";
import { Slice } from "../../../src/executor/slice.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";
import { UnitTimes } from "../../../src/executor/session/unit-times.ts";
import { StorageOutage } from "../../../src/executor/units/storage-outage.ts";
import { UnitsTicket } from "../../../src/executor/units/units-ticket.ts";
import { RunSecrets } from "../../../src/secrets/run-secrets.ts";
import { RuleRun } from "./rule-run.ts";

export interface TicketOptions {
  /** One that is there already, with what its executors stored; default: a new one. */
  readonly run?: RuleRun;
  readonly objects?: Map<string, Uint8Array>;
  /** Default: answers are taken as they are, and score nothing. */
  readonly environment?: Environment;
  /** In place of that: one whose code is elsewhere. */
  readonly hosted?: HostedEnvironment;
  readonly config?: Partial<RunConfig>;
  readonly saved?: SavedRows;
  /** Of the environment's code, where rows carry it. */
  readonly envDigest?: string;
  readonly onNote?: (message: string) => void;
  /** Default: the same one each time. */
  readonly executor?: string;
  readonly units: number;
  readonly lanes: number;
  /** Per example; default 1. */
  readonly rollouts?: number;
  /** What the model says, when asked. */
  readonly answer: () => Promise<string>;
  /** A put of a segment; it has its effect in any case. */
  readonly onPut?: (segment: Uint8Array) => Promise<void>;
  /** A call to the Run; `send` carries it out. */
  readonly onCall?: (name: TransitionName, send: () => unknown, request: object) => Promise<unknown>;
  readonly budget?: Partial<ExecutorBudget>;
}

const commitOf = ({ units, pieces, ...rest }: CommitCall) => ({
  ...rest,
  units: JSON.parse(units) as CommitUnit[],
  ...(pieces === undefined ? {} : { pieces: JSON.parse(pieces) as CommitPiece[] }),
});

const unlimited = Number.POSITIVE_INFINITY;

/** One grant of units, carried out by the real executor before a Run, a storage and a model in memory. */
export function ticketOnRuleRun({ units, lanes, answer, onPut, onCall, budget: changes, rollouts = 1, ...given }: TicketOptions): {
  run: RuleRun;
  grant: Grant;
  ticket: UnitsTicket;
} {
  const run =
    given.run ??
    RuleRun.open(
      units,
      { max_concurrent: lanes, rollouts_per_example: rollouts, ...given.config },
      {
        whole: given.hosted?.traits.whole === true,
        results_shape: given.hosted?.traits.resultsShape ?? undefined,
      },
    );
  const objects = given.objects ?? new Map<string, Uint8Array>();
  const { executor = "executor" } = given;
  const grant = run.grant(executor, lanes);
  const gate = new Gate(grant.requests);
  const client: Client = {
    type: "scripted",
    async getResponse({ signal, onBegin }) {
      await gate.enter(signal);
      onBegin?.();
      const content = await answer().finally(() => gate.leave());
      const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6, reasoning_tokens: 0 };
      const message = { role: "assistant", content, finish_reason: "stop", is_truncated: false, tokens: null } as const;
      return { id: "r", created: 0, model: "m", usage, message };
    },
  };
  const inputs = Array.from(
    { length: units },
    (_, unit) => `${JSON.stringify({ example_id: unit, prompt: [{ role: "user", content: "q" }], task: "t" })}\n`,
  ).join("");
  const store = {
    async create(key: string, segment: Uint8Array) {
      await onPut?.(segment);
      objects.set(key, segment);
      return "stored" as const;
    },
    async read(key: string, offset: number, length: number) {
      const object = objects.get(key);
      if (object === undefined) throw new EdgewiseError("storage_damaged", `${key} is missing in storage`);
      return object.subarray(offset, offset + length);
    },
    readAll: async () => new TextEncoder().encode(inputs),
  } as Partial<ExecutorStore> as ExecutorStore;
  const stub = new Proxy({} as RunStub, {
    get: (_, name: TransitionName) => async (request: object) => {
      const whole = name === "commit" ? commitOf(request as CommitCall) : request;
      const send = (): unknown => run.call(name, whole as Request<TransitionName>);
      return onCall === undefined ? send() : onCall(name, send, whole);
    },
  });
  const bytes = unboundedBytes();
  const ports: ExecutorPorts = {
    id: executor,
    boot: run.boot,
    runtime: run.runtime,
    isolate: new Isolate(Date.now),
    local: true,
    dispatcher: () => ({ offer: async () => undefined, next: async () => ({ runs: [], yield: null, wanted: 0 }) }),
    offered: async () => null,
    envDigest: async () => null,
    run: () => stub,
    store,
    bytes,
    limiter: () => null,
    answers: () => null,
    budget: () => null,
    keyOf: () => ok({ key: "EMPTY", headers: {} }),
    keys: {},
    secretsOf: async () => RunSecrets.NONE,
    usualSandbox: null,
    sandboxes: () => {
      throw new Error("no sandboxes");
    },
    hiding: (_values, work) => work(),
    addressProblem: () => null,
    secret: () => null,
    placeProblem: () => null,
    ai: null,
    fetch: () => Promise.reject(new Error("no network")),
    hub: { endpoint: "", viewer: "", token: null },
    parentLives: async () => true,
    now: () => performance.now(),
    sleep,
    random: () => 0.5,
    log: () => undefined,
    printsTo: (_printer, work) => work(),
    atWork: async () => () => undefined,
    mask: () => (text) => text,
  };
  const budget = {
    requests: lanes,
    margin: 1_000,
    poll: 1_000,
    slice: unlimited,
    wanted: unlimited,
    wall: unlimited,
    held: 0,
    rollouts: unlimited,
    subrequests: unlimited,
    outage: 0,
    firstAnswer: 0,
    storm: 0,
    keepTurns: 10_000,
    unitDeadline: null,
    connections: null,
    ...changes,
  };
  const environment = given.environment ?? new SingleTurnEnv({ dataset: async function* () {} });
  const vitals = () => ({ in_flight: 0, retries: 0, waiting: 0, paused_until: null });
  const ticket = new UnitsTicket(
    {
      ports,
      budget,
      slice: new Slice(budget, ports.now),
      room: () => budget.requests,
      weigh: () => undefined,
      environment: given.hosted ?? inProcess(environment),
      envDigest: given.envDigest,
      judges: new JudgeMeter(),
      clientOf: () => client,
      vitals,
      narrow: () => undefined,
      isUnpaid: () => false,
      noteFirst: () => undefined,
      note: (_level, message) => given.onNote?.(message),
      seat: ports.isolate.seat(grant.lease_ms),
      saved: given.saved ?? new SavedRows(bytes),
      outage: new StorageOutage(ports, run.ledger.config().run_id, () => undefined),
      times: new UnitTimes(),
      beforeLeave: async () => undefined,
    },
    grant,
    ports.now(),
  );
  return { run, grant, ticket };
}
