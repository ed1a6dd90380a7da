import { registryStub } from "../../durable-objects/stubs.ts";
import { PUBLISHED_FILES, publishedKey } from "../../r2-layout/keys.ts";
import type { Env } from "../env.ts";
import { failureOf } from "../errors/result.ts";
import { DELETED_VERSION_MS } from "../limits.ts";
import { steadyNow } from "../steady-clock.ts";
import { teamPrefix } from "../teams/team-name.ts";
import { teamsInTurn } from "./team-turns.ts";

/** Versions that one invocation removes: one deletion each. */
const MOST = 200;

/** Removes the code of published versions that were deleted long enough ago, a bounded number in each minute. What fails is logged, and met again. */
export async function removePublishedCode(env: Env, age_ms: number = DELETED_VERSION_MS, most: number = MOST): Promise<void> {
  let left = most;
  for (const team of await teamsInTurn(env, steadyNow())) {
    if (left === 0) return;
    try {
      const code = await registryStub(env, team).codeToRemove(steadyNow() - age_ms, left);
      left -= code.length;
      for (const { name, version, digest } of code)
        await env.BUCKET.delete(PUBLISHED_FILES.map((file) => `${teamPrefix(team)}${publishedKey(name, version, digest, file)}`));
      if (code.length > 0) await registryStub(env, team).forgetCode(code);
    } catch (thrown) {
      console.warn(`published code: team ${team}: ${failureOf(thrown).message}`);
    }
  }
}
