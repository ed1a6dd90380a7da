import { shownUrl } from "../clients/secrets.ts";
import { shortDigest } from "../config/env-digest.ts";
import type { OfferedFacts } from "../environments/definition/offered.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { describeWalled, type WallOpener } from "../walled/walled-environment.ts";

/** What was linked. */
export interface LinkedCode {
  readonly name: string;
  readonly url: string;
  readonly facts: Pick<OfferedFacts, "version" | "source">;
}

/**
 * Opens as `open` does, for runs only where the server still has the code that was linked, which it is asked each time: a run is of one code (docs/decisions/code-of-a-run.md), and
 * a server is exchanged without anybody being told. Rejects, passing, where it has other code: one of before may come back, or be linked again.
 */
export const sameCode =
  (open: WallOpener, { name, url, facts }: LinkedCode): WallOpener =>
  async (grant) => {
    if (grant.purpose === "run") {
      const { source, version } = await describeWalled((asked) => open({ ...grant, ...asked })).catch((thrown: unknown): never => {
        // It has said what it is before.
        throw new EdgewiseError("environment_failed", failureOf(thrown).message, { cause: thrown, passing: true });
      });
      if (source !== facts.source)
        throw new EdgewiseError(
          "environment_failed",
          `the environment server ${shownUrl(url)} has other code than was linked: version ${version}, ${shortDigest(source)}, not ${facts.version}, ${shortDigest(facts.source)}`,
          {
            hint: `Bring that code back; or take the other one (npx edgewise env link ${name} ${shownUrl(url)}) and resume with --accept-code-change.`,
            passing: true,
          },
        );
    }
    return await open(grant);
  };
