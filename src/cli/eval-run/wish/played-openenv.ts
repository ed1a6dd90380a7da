import { openenv } from "../../../environments/bundled/openenv/openenv.ts";
import type { GivenOptions } from "../../command-line/flags.ts";
import { holdsEnvironment } from "../../environments/find-environment.ts";
import { openEnvFolder, type OpenEnvFolder, openEnvProject, type OpenEnvProject } from "../../python/openenv-project.ts";
import type { Surroundings } from "../../service/service.ts";
import { usageError } from "../../terminal/cli-error.ts";

interface Named {
  readonly envId: string;
  readonly given: GivenOptions;
}

/** A project of OpenEnv whose folder is named in the place of an environment; null where it is none, or an environment of ours lies there too. Throws usage errors. */
export function placedOpenEnv({ envId, given }: Named, { cwd, env }: Pick<Surroundings, "cwd" | "env">): OpenEnvFolder | null {
  const found = openEnvFolder(envId, cwd);
  if (found === null || holdsEnvironment(found.folder)) return null;
  if (env.EDGEWISE_URL)
    throw usageError(
      `${envId} is an OpenEnv project of this machine, and EDGEWISE_URL names a service elsewhere, which cannot reach its server here`,
      `Run the server where the service reaches it, and name it: openenv -a '{"url": "https://…"}'`,
    );
  if (given.env_args?.url !== undefined)
    throw usageError(`${envId} is an OpenEnv project, and the argument url names a server that runs already`, "Give one of the two.");
  return found;
}

/** Played by the environment `openenv`, which is told where the server will be. */
export const onOpenEnv = (given: GivenOptions, { url }: OpenEnvProject): Named => ({
  envId: openenv.id,
  given: { ...given, env_args: { ...given.env_args, url } },
});

/** Each project once, however many evaluations are of it. */
export class OpenEnvProjects {
  readonly #found = new Map<string, OpenEnvProject>();

  get all(): readonly OpenEnvProject[] {
    return [...this.#found.values()];
  }

  async at(found: OpenEnvFolder, asking: Parameters<typeof openEnvProject>[1]): Promise<OpenEnvProject> {
    const known = this.#found.get(found.folder) ?? (await openEnvProject(found, asking));
    this.#found.set(found.folder, known);
    return known;
  }
}
