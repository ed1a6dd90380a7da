import type { Grant } from "../../durable-objects/run/protocol.ts";
import { placesOf, type RunConfig } from "../config/plan/run-config.ts";
import { accessProblem, allowedAccess } from "../environments/definition/access.ts";
import type { BoundEndpoint, LoadContext } from "../environments/definition/definition.ts";
import type { HostedEnvironment } from "../environments/hosted/hosted-environment.ts";
import type { OfferedEnvironment } from "../environments/definition/offered.ts";
import { isPassing } from "../errors/passing.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { CacheMeter } from "../rollouts/state/cache-meter.ts";
import { JudgeMeter } from "../rollouts/state/judge-usage.ts";
import type { Endpoints } from "./endpoints/endpoints.ts";
import type { RunNotes } from "./endpoints/notes.ts";
import { GrantSandboxes } from "./grant-sandboxes.ts";
import { hasCodeOf } from "./grant-code.ts";
import type { EnvironmentLog } from "./hosting/environment-log.ts";
import { type KeySources, keySources } from "../published/keys-of-published.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { ticketOf, whileHeld } from "./keep-alive.ts";
import type { ExecutorPorts } from "./ports.ts";
import { noJudge } from "./rescoring/no-model.ts";
import { datasetHost } from "./preparation/datasets.ts";
import { teamPorts } from "./team-ports.ts";

/** An environment as a grant has it, and what counts the models that it calls itself. */
export interface Loaded {
  readonly environment: HostedEnvironment;
  /** Tears it down, once, and sends what it printed. */
  readonly end: () => Promise<void>;
  readonly judges: JudgeMeter;
  /** Counts how calls are answered, the model's too; undefined where the run does not read the cache. */
  readonly cache: CacheMeter | undefined;
  /** Digest that rows are to carry, if any. */
  readonly envDigest: string | undefined;
  /** Of its team and of the run itself. */
  readonly secrets: RunSecrets;
  /** When the lease was renewed while it was loaded; null = it was not. */
  readonly renewedAt: number | null;
}

/** What an executor tells of a run, and what the run's environment says itself: not the keys of its endpoints, nor those that it declares. */
export interface Said {
  readonly notes: RunNotes;
  readonly prints: EnvironmentLog;
}

/** The environments that one executor works with: each loaded for one grant, if it has the code that the grant names. */
export class GrantEnvironments {
  readonly #ports: ExecutorPorts;
  readonly #endpoints: Endpoints;

  constructor(ports: ExecutorPorts, endpoints: Endpoints) {
    this.#ports = ports;
    this.#endpoints = endpoints;
  }

  /**
   * Does `work` in the environment of the grant. What cannot be loaded ends the run, naming why; what may pass is tried again, by whoever is
   * granted it next. False when the run wants other code than this executor has.
   */
  async within(grant: Grant, said: Said, work: (loaded: Loaded) => Promise<void>): Promise<boolean> {
    const found = await this.#find(grant);
    if (found === null) return true;
    const { offered } = found;
    said.prints.mask = this.#ports.mask([...placesOf(grant.config).map(({ api_key_var }) => api_key_var), ...(offered?.keys ?? [])]);
    const code = await this.#codeOf(grant);
    if (code === null) return false;
    if (code === "broken") return true;
    const secrets = await this.#secretsFor(grant, offered);
    if (secrets === null) return true;
    const inside = <T>(work: () => T): T =>
      this.#ports.hiding([...secrets.values, ...(offered?.hides?.() ?? [])], () => this.#ports.printsTo(said.prints, work));
    const over = await this.#ports.atWork(grant.config.env_id);
    try {
      await inside(async () => {
        const loaded = await this.#load(grant, said, offered, code.envDigest, { secrets, inside });
        if (loaded === null) return;
        try {
          await work(loaded);
        } finally {
          await loaded.end();
        }
      });
    } finally {
      this.#endpoints.endJudges(grant);
      over();
    }
    return true;
  }

  /** Sandboxes of the run that nobody ends any more, before nobody looks for them. Never rejects. */
  removeLastSandboxes(grant: Grant, notes: RunNotes): Promise<void> {
    return this.#sandboxesOf(grant, notes).removeLast();
  }

  #sandboxesOf(grant: Grant, notes: RunNotes): GrantSandboxes {
    return new GrantSandboxes(this.#ports, this.#endpoints.fetch, grant, (message) => notes.warning(message, message));
  }

  /** Null where it cannot be looked up, which the run is told. */
  async #find(grant: Grant): Promise<{ readonly offered: OfferedEnvironment | null } | null> {
    try {
      return { offered: await this.#ports.offered(grant.config) };
    } catch (thrown) {
      await this.#cannotLoad(grant, thrown);
      return null;
    }
  }

  /** Null when this executor has other code than the run is pinned to, `broken` when its code cannot be loaded. */
  async #codeOf(grant: Grant): Promise<Pick<Loaded, "envDigest"> | "broken" | null> {
    if (grant.env_digest === undefined) return { envDigest: undefined };
    let own: string | null;
    try {
      own = await this.#ports.envDigest(grant.config);
    } catch (thrown) {
      await this.#cannotLoad(grant, thrown);
      return "broken";
    }
    if (own !== null && hasCodeOf(grant, own)) return { envDigest: grant.marked === true ? own : undefined };
    const { kind } = await this.#run(grant).otherCode({ ...ticketOf(grant), env_digest: own });
    return kind === "ok" && own !== null ? { envDigest: own } : null;
  }

  /** The secrets of the run, for work that needs none of its environment. Null when the run is told why they are not to be had, and the grant given back. */
  async secretsOf(grant: Grant): Promise<RunSecrets | null> {
    const found = await this.#find(grant);
    return found === null ? null : await this.#secretsFor(grant, found.offered);
  }

  /** Null when the run is told that it lacks one. */
  async #secretsFor(grant: Grant, offered: OfferedEnvironment | null): Promise<RunSecrets | null> {
    const { config } = grant;
    if (config.secrets === undefined || config.secrets.length === 0) return RunSecrets.NONE;
    try {
      return await this.#ports.secretsOf(config, this.#sources(config).team ? (offered?.keys ?? []) : []);
    } catch (thrown) {
      await this.#cannotLoad(grant, thrown);
      return null;
    }
  }

  /** Where values of what the run's environment declares may come from. */
  #sources(config: RunConfig): KeySources {
    return keySources(config, config.team, this.#ports.local);
  }

  async #load(
    grant: Grant,
    { notes, prints }: Said,
    offered: OfferedEnvironment | null,
    envDigest: string | undefined,
    { secrets, inside }: { readonly secrets: RunSecrets; readonly inside: NonNullable<LoadContext["inside"]> },
  ): Promise<Loaded | null> {
    const { config } = grant;
    const judges = new JudgeMeter();
    const cache = config.cache === undefined ? undefined : new CacheMeter();
    const { given } = secrets;
    const { service } = this.#sources(config);
    const sandboxes = this.#sandboxesOf(grant, notes);
    try {
      if (offered === null) throw new EdgewiseError("environment_not_found", `there is no environment ${JSON.stringify(config.env_id)}`);
      const context: LoadContext = {
        datasets: datasetHost(teamPorts(this.#ports, config), (message) => notes.info(message)),
        // The key of the model under evaluation is no environment's, whatever it declares.
        key: (name: string) =>
          placesOf(config).some(({ api_key_var }) => api_key_var === name) ? null : (given[name] ?? (service ? this.#ports.secret(name) : null)),
        secrets: given,
        variables: config.env_variables ?? {},
        sandbox: sandboxes.for([...offered.keys, ...Object.keys(given)]),
        print: (level, text) => prints.print(level, text),
        inside,
        outward: this.#endpoints.outward,
        client:
          config.rescored_from !== undefined && grant.task.kind === "prepare"
            ? ({ client_type = "openai_chat_completions" }: BoundEndpoint) => noJudge(client_type)
            : this.#endpoints.bound(grant, notes, judges, service ? offered.keys : Object.keys(given), secrets, cache),
        ...(config.rescored_from?.rubric === undefined ? {} : { rubric: config.rescored_from.rubric }),
      };
      const load = (): Promise<HostedEnvironment> => offered.load(config.env_args, context, config.extra_env_kwargs);
      const { value: environment, renewedAt } = await whileHeld(teamPorts(this.#ports, config), config.run_id, grant, load);
      // Its code may be another than at the creation.
      const denied = accessProblem(environment.traits, allowedAccess(config));
      if (denied !== null) throw new EdgewiseError("access_not_allowed", denied.message, { hint: "A new run that allows it can be made." });
      const looked = sandboxes.removeLeftovers();
      return { environment, end: this.#ending(config.run_id, environment, prints, looked), judges, cache, envDigest, secrets, renewedAt };
    } catch (thrown) {
      await prints.flush();
      await this.#cannotLoad(grant, thrown);
      return null;
    }
  }

  async #cannotLoad(grant: Grant, thrown: unknown): Promise<void> {
    const failure = failureOf(thrown, "environment_failed");
    await this.#run(grant).fail({ ...ticketOf(grant), failure, ...(isPassing(thrown) ? { passing: true } : {}) });
    await this.#run(grant).leave(ticketOf(grant));
  }

  /** What is printed last must be sent under the ticket, so this comes before it is given back. */
  #ending(runId: string, environment: HostedEnvironment, prints: EnvironmentLog, looked: Promise<void>): Loaded["end"] {
    let ended: Promise<void> | null = null;
    const end = async (): Promise<void> => {
      await environment.teardown().catch((thrown: unknown) => this.#ports.log(`run ${runId}: teardown: ${failureOf(thrown).message}`));
      await Promise.all([prints.flush(), looked]);
    };
    return () => (ended ??= end());
  }

  /** A stub for one call. */
  #run({ config }: Grant) {
    return teamPorts(this.#ports, config).run(config.run_id);
  }
}
