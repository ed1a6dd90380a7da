/** What `eval run` is asked for, once flags, files and environments have been read. */
import type { JsonObject } from "../../../config/plan/run-config.ts";
import type { RowIndex } from "../../results/row-index.ts";
import type { ReplicaBody } from "../../../config/endpoints/endpoint-choice.ts";
import type { GivenOptions } from "../../command-line/flags.ts";
import type { NamedEnvironment, WantedEnvironments } from "../../environments/local-environments.ts";
import type { OpenEnvProject } from "../../python/openenv-project.ts";
import type { PlayedPython } from "../../python/python-session.ts";
import type { Surroundings } from "../../service/service.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** One evaluation that a command asks for. */
export interface EvalWish extends NamedEnvironment {
  /** What it is called among the others of the command. */
  readonly label: string;
  /** Where a config file says it; null = it was typed. */
  readonly place: string | null;
  readonly given: GivenOptions;
  /** Name of the benchmark whose folder was named in the place of an environment; absent = none was. */
  readonly benchmark?: string;
  /** Its code is Python, and runs in processes of this command; absent = it is not. */
  readonly isPython?: true;
  /** The service has a link of that name, which it plays; absent = it has none, or was not asked. */
  readonly isLinked?: true;
  /** What to type where a service elsewhere has no environment of that name; absent = there is none of that name here. */
  readonly linkHints?: readonly string[];
  /** Several places that serve the model. */
  readonly replicas: readonly ReplicaBody[];
  /** Rollouts that are there are scored again; absent = the run makes its own. */
  readonly rescore?: RescoreWish;
}

/** What is scored again instead of made. */
export interface RescoreWish {
  /** `rescore` of the creation, but for the upload. */
  readonly fields: JsonObject;
  /** The folder or export that they are in, as it was typed; null: the service has them. */
  readonly folder: string | null;
  /** Rows that are uploaded; null: the service has them. */
  readonly rows: RowIndex | null;
}

export interface EvalCommand extends Surroundings, Pick<WantedEnvironments, "environments" | "worker" | "bundled"> {
  /** What was typed: environments, or a config file. */
  readonly named: string;
  /** At least one. */
  readonly evals: readonly EvalWish[];
  /** Requests in flight of all of them together; null = no common limit. */
  readonly maxConcurrentTotal: number | null;
  /** The environments in Python that it plays, each once. */
  readonly pythons: readonly PlayedPython[];
  /** The projects of OpenEnv whose servers it starts. */
  readonly openEnvs: readonly OpenEnvProject[];
  readonly terminal: Terminal;
}
