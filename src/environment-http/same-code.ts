import { shownUrl } from "../clients/secrets.ts";
import { shortDigest } from "../config/env-digest.ts";
import type { OfferedFacts } from "../environments/definition/offered.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { TokenRefused } from "./environment-server.ts";
import { describeWalled, type WallOpener } from "../walled/walled-environment.ts";

/** What was linked. */
export interface LinkedCode {
  readonly name: string;
  readonly url: string;
  readonly facts: Pick<OfferedFacts, "version" | "source">;
}

const linking = (name: string, url: string): string => `npx edgewise env link ${name} ${shownUrl(url)}`;
const linkAgain = (name: string, url: string): string => `Link it again with the token that it asks for (${linking(name, url)}), and resume.`;

/**
 * Opens as `open` does, for runs only where the server still has the code that was linked, which it is asked each time: a run is of one code (docs/decisions/code-of-a-run.md), and
 * a server is exchanged without anybody being told. Rejects, passing, where it has other code or does not say: one of before may come back, or be linked again. That it refuses the token does not
 * pass.
 */
export const sameCode =
  (open: WallOpener, { name, url, facts }: LinkedCode): WallOpener =>
  async (grant) => {
    if (grant.purpose === "run") {
      const { source, version } = await describeWalled((asked) => open({ ...grant, ...asked })).catch((thrown: unknown): never => {
        if (thrown instanceof TokenRefused) throw new TokenRefused(thrown.code, thrown.message, { cause: thrown, hint: linkAgain(name, url) });
        // It has said what it is before.
        throw new EdgewiseError("environment_failed", failureOf(thrown).message, { cause: thrown, passing: true });
      });
      if (source !== facts.source)
        throw new EdgewiseError(
          "environment_failed",
          `the environment server ${shownUrl(url)} has other code than was linked: version ${version}, ${shortDigest(source)}, not ${facts.version}, ${shortDigest(facts.source)}`,
          {
            hint: `Bring that code back; or take the other one (${linking(name, url)}) and resume with --accept-code-change.`,
            passing: true,
          },
        );
    }
    return await open(grant);
  };
