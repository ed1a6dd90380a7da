/** Runs of a service as library code makes them: asked for, attached to, waited for, read. */
import { createHash, randomUUID } from "node:crypto";
import { createBody } from "../../config/plan/creation-body.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import type { Evaluation } from "../../cli/connection/api-types.ts";
import { followRun } from "../../cli/connection/follow-run.ts";
import { ServiceError, ServiceUnreachable } from "../../cli/connection/http-client.ts";
import { pause } from "../../cli/connection/pause.ts";
import { datasetPath, describeDataset, type LocalDataset, nameOf, uploadDataset } from "../../cli/datasets/dataset-upload.ts";
import type { NamedEnvironment } from "../../cli/environments/local-environments.ts";
import type { Service } from "../../cli/service/service.ts";
import type { SharedService } from "../../cli/service/shared-service.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { isErrorCode } from "../../errors/codes.ts";
import { engineError } from "./engine-errors.ts";
import { digestOf, type EvaluationRequest } from "./evaluation-request.ts";
import { type EvaluationResult, resultOf } from "./evaluation-result.ts";

export interface EngineParts {
  readonly service: SharedService;
  readonly cwd: string;
  readonly wanted: readonly NamedEnvironment[];
}

/** A service may be silent so long before a run is given up by who waits for it; the run itself goes on. */
const PATIENCE_MS = 60_000;
/** A run that is writing its results is ready for a resume within this time. */
const BUSY_MS = 60_000;
/** How many times the service of a folder may end below a waiting caller. */
const MOST_SERVICES = 20;
/** Where an unfinished run of the same settings is looked for. */
const NEWEST = 100;

export class Engine implements AsyncDisposable {
  readonly #service: SharedService;
  /** Paths are taken from here. */
  readonly cwd: string;
  readonly #wanted: readonly NamedEnvironment[];
  #closed = false;

  /** Made by `connectEngine`. */
  constructor({ service, cwd, wanted }: EngineParts) {
    this.#service = service;
    this.cwd = cwd;
    this.#wanted = wanted;
  }

  /** The address of the service; its `/docs` says what else it does. */
  get url(): string {
    return this.#service.current.url;
  }

  /**
   * Makes the run, or attaches to the one that was made before (`EvaluationRequest.key`), waits until it has ended and nothing of it is left to be
   * written, and gives it with what failed. Throws an `EdgewiseError` for what could not be asked for, and when the service is silent for a minute.
   */
  async runEvaluation(request: EvaluationRequest): Promise<EvaluationResult> {
    const dataset = await this.#dataset(request);
    const body = this.#body(request, dataset);
    return await this.#served(request, (service) => this.#play(service, request, body, dataset));
  }

  /**
   * Refuses what a run of `request` would be refused: an environment that is not there (with those that are), an argument, a setting. Makes no run, reads no data set of the service and
   * calls no model. Throws as `runEvaluation` does.
   */
  async checkEvaluation(request: EvaluationRequest): Promise<void> {
    const body = this.#body(request, await this.#dataset(request));
    await this.#served(request, ({ client }) => client.settings(body));
  }

  /** `work` with the service, and with the next one of the folder where it ends meanwhile. */
  async #served<Result>({ signal }: EvaluationRequest, work: (service: Service) => Promise<Result>): Promise<Result> {
    if (this.#closed) throw new EdgewiseError("invalid_request", "the engine is closed", { hint: "Connect another one: connectEngine()." });
    for (let services = 1; ; services += 1) {
      const service = this.#service.current;
      try {
        return await work(service);
      } catch (error) {
        signal?.throwIfAborted();
        // The process whose service this one used has ended: its runs go on with the next service of the folder.
        if (!(error instanceof ServiceUnreachable) || service.role !== "client" || services >= MOST_SERVICES || this.#closed) throw engineError(error, service);
        await this.#service.instead(service).catch((later: unknown) => {
          throw engineError(later, service);
        });
      }
    }
  }

  /** Ends the service that was started for this engine; runs that are unfinished go on when the folder has a service again. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#service.current.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #body({ environment, options }: EvaluationRequest, dataset: LocalDataset | null): JsonObject {
    const reference = this.#wanted.find(({ named }) => named === environment)?.reference ?? environment;
    const args = dataset === null ? {} : { env_args: { ...options.env_args, dataset: `sha256:${dataset.digest}` } };
    return { ...createBody(reference, { ...options, ...args }), ...nameOf(dataset) };
  }

  async #dataset({ options }: EvaluationRequest): Promise<LocalDataset | null> {
    try {
      const path = datasetPath(options.env_args ?? {}, this.cwd);
      return path === null ? null : await describeDataset(path);
    } catch (error) {
      throw engineError(error, null);
    }
  }

  async #play(service: Service, request: EvaluationRequest, body: JsonObject, dataset: LocalDataset | null): Promise<EvaluationResult> {
    if (dataset !== null) await uploadDataset(service.client, dataset);
    const { signal, onState = () => undefined } = request;
    const runId = await this.#asked(service, request, body);
    await goOn(service, runId, signal);
    const ends = [...(signal === undefined ? [] : [signal]), ...(service.orphaned === null ? [] : [service.orphaned])];
    const watcher = { onState, onLog: () => undefined, onCommit: () => undefined };
    await followRun(service.client, runId, { seq: 0 }, watcher, {
      patienceMs: PATIENCE_MS,
      signal: AbortSignal.any(ends),
      until: ({ settled }) => settled,
    });
    const evaluation = await service.client.run(runId);
    return resultOf(evaluation, failureOfRun(evaluation), () => this.#service.current);
  }

  /** The id of the run: of the one that was asked for before, or a new one. */
  async #asked({ client }: Service, { key }: EvaluationRequest, body: JsonObject): Promise<string> {
    if (key !== undefined) return (await client.createRun(body, keyText(key))).evaluation_id;
    const name = `${String((body.environment_ids as string[])[0])} by a library, ${digestOf(body).slice(0, 12)}`;
    const { evaluations } = await client.runs(0, NEWEST);
    const unfinished = evaluations.find((each) => each.name === name && (each.status === "PENDING" || each.status === "RUNNING"));
    return unfinished?.evaluation_id ?? (await client.createRun({ ...body, name }, randomUUID())).evaluation_id;
  }
}

/** A key as the service takes it, whatever it was made of. */
const keyText = (key: string): string => `library-${createHash("sha256").update(key).digest("hex")}`;

/** A run that was suspended, or ended before it was through, is owed its rest: who asks for it wants that. */
async function goOn({ client }: Service, runId: string, signal: AbortSignal | undefined): Promise<void> {
  for (const deadline = performance.now() + BUSY_MS; ; ) {
    const { edgewise, status } = await client.run(runId);
    const over = status === "COMPLETED" ? edgewise.owed_rollouts === 0 || edgewise.stopped_early !== undefined : false;
    if (over || !(edgewise.suspended || edgewise.settled)) return;
    try {
      await client.resumeRun(runId, {});
      return;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "run_busy" || performance.now() > deadline) throw error;
      await pause(300, signal);
    }
  }
}

function failureOfRun({ status, edgewise, error_message }: Evaluation): EdgewiseError | null {
  if (status === "COMPLETED") return null;
  const { code, message, hint } = edgewise.failure ?? { code: "internal", message: error_message ?? `the run ended ${status}` };
  return new EdgewiseError(isErrorCode(code) ? code : "internal", message, hint === undefined ? {} : { hint });
}
