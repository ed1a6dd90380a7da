/** How library code in Node reaches an engine: a served or deployed one by its URL, or the one of a state folder of this machine. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { wantedEnvironments } from "../../cli/environments/local-environments.ts";
import { openService } from "../../cli/service/open-service.ts";
import type { Service } from "../../cli/service/service.ts";
import { SharedService } from "../../cli/service/shared-service.ts";
import { Engine } from "./engine.ts";
import { engineError } from "./engine-errors.ts";

export interface EngineOptions {
  /** A served or deployed service; absent = `EDGEWISE_URL`, else one of this machine. */
  readonly url?: string;
  /** What it wants callers to show; absent = `EDGEWISE_TOKEN`. Never stored, and never part of an error. */
  readonly token?: string;
  /** Where the service of this machine keeps its runs; absent = `EDGEWISE_STATE_DIR`, else `.edgewise` of the working folder. */
  readonly stateDir?: string;
  /** Paths are taken from here; absent = the working folder. */
  readonly cwd?: string;
  /** Files or folders of environments of one's own, beside the bundled ones: they are built when the service of this machine starts. */
  readonly environments?: readonly string[];
  /** Variables that hold keys of models and do not look like one. */
  readonly keyVars?: readonly string[];
  /** Executors side by side, 1 to 8; 1 unless said. */
  readonly executors?: number;
  /** Hears of a runtime that ended and is started again, and of bundled environments that one's own replace. */
  readonly onNote?: (line: string) => void;
}

/**
 * Finds the service of the folder, joins the one that another process runs there, or starts one that ends with `close()` (or `await using`). What was
 * unfinished goes on when it is asked for again. Throws an `EdgewiseError`: `invalid_request` for what has to be said otherwise, `endpoint_unavailable` for silence.
 */
export async function connectEngine(options: EngineOptions = {}): Promise<Engine> {
  const { url, token, stateDir, keyVars = [], executors, onNote = () => undefined } = options;
  const cwd = resolve(options.cwd ?? process.cwd());
  const env = {
    ...process.env,
    ...(url === undefined ? {} : { EDGEWISE_URL: url }),
    ...(token === undefined ? {} : { EDGEWISE_TOKEN: token }),
    ...(stateDir === undefined ? {} : { EDGEWISE_STATE_DIR: resolve(cwd, stateDir) }),
  };
  // A state folder that is named is meant, whatever the shell names.
  if (stateDir !== undefined && url === undefined) delete (env as NodeJS.ProcessEnv).EDGEWISE_URL;
  try {
    const names = (options.environments ?? []).map((name) => ({ name, envDir: undefined }));
    const { wanted, worker, bundled, replaced } = await wantedEnvironments(names, { cwd, env });
    for (const line of replaced) onNote(line);
    const open = (): Promise<Service> =>
      openService({
        env,
        cwd,
        home: homedir(),
        command: "edgewise (library)",
        port: 0,
        keyNames: keyVars,
        // Variables and addresses are those of whoever runs this code. What its end suspends goes on when it is asked for again.
        attended: true,
        ...(executors === undefined ? {} : { executors }),
        worker,
        bundled,
        onCrash: () => onNote("the local runtime ended by itself and is started again"),
      });
    return new Engine({ service: new SharedService(await open(), open), cwd, wanted });
  } catch (error) {
    throw engineError(error, null);
  }
}
