import type { Env } from "../env.ts";
import type { EnvironmentFacts } from "../environments/definition/describe.ts";
import { readFacts } from "../environments/definition/read-facts.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import type { IsolateCode } from "../isolates/isolate-modules.ts";
import { isolateOpener } from "../isolates/isolate-opener.ts";
import { describeWalled } from "../walled/walled-environment.ts";

/**
 * What a module says of the environment that it exports, asked in an isolate of its team without network and keys. Throws `environment_failed` for code that is none, does not
 * load or says what cannot be, and where this deployment makes no isolates.
 */
export async function describeIsolated(env: Env, team: string, code: IsolateCode): Promise<EnvironmentFacts> {
  const said = await describeWalled(isolateOpener(env, { team, hosts: [], code: async () => code })).catch((thrown: unknown): never => {
    // Of code that nobody has run yet an isolate that cannot be started is the code's fault, and not the platform's.
    const { code: failed, message, hint } = failureOf(thrown);
    if (failed !== "sandbox_error") throw thrown;
    throw new EdgewiseError("environment_failed", message, { cause: thrown, ...(hint === undefined ? {} : { hint }) });
  });
  return readFacts(said, "the module");
}
