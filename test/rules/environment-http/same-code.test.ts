import { afterEach, describe, expect, it } from "vitest";
import type { EnvironmentPlace } from "../../../src/environment-http/environment-server.ts";
import { httpOpener } from "../../../src/environment-http/http-opener.ts";
import { sameCode } from "../../../src/environment-http/same-code.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { isPassing } from "../../../src/errors/passing.ts";
import { failureOf } from "../../../src/errors/result.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { describeWalled } from "../../../src/walled/walled-environment.ts";
import { type ServedEnvironment, served } from "../../support/environment-http/served.ts";
import { dataset, define, right } from "../../support/walled/both.ts";

const begun: ServedEnvironment[] = [];
afterEach(async () => {
  for (const server of begun.splice(0)) await server.kill();
});
async function serving(): Promise<ServedEnvironment> {
  const server = await served(define(() => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) })));
  begun.push(server);
  return server;
}

const opener = (place: EnvironmentPlace) => httpOpener(place, { fetch, beginMs: 2_000 });
/** Null where a run may begin there. */
async function refused(place: EnvironmentPlace, source: string) {
  try {
    const channel = await sameCode(opener(place), { name: "mine", url: place.url, facts: { version: "1", source } })({ purpose: "run", keys: {} });
    channel.close();
    return null;
  } catch (thrown) {
    return { ...failureOf(thrown), passing: isPassing(thrown) };
  }
}

describe("a run of a linked environment begins where the server", () => {
  it("has the code that was linked; with other code it waits, and is told what to do", async () => {
    const server = await serving();
    const { source } = await describeWalled(opener(server));
    expect(await refused(server, source)).toBeNull();
    expect(await refused(server, "other")).toMatchObject({
      code: "environment_failed",
      passing: true,
      message: expect.stringMatching(/has other code than was linked/) as string,
      hint: expect.stringContaining(`env link mine ${server.url}`) as string,
    });
  });

  it("takes the token: that it does not is said at once, since waiting does not mend it", async () => {
    const server = await serving();
    const failed = await refused({ url: server.url, token: "a-token-of-before" }, "any");
    expect(failed).toMatchObject({
      code: "environment_failed",
      passing: false,
      message: expect.stringMatching(/refuses the token of the link/) as string,
      hint: expect.stringContaining(`env link mine ${server.url}`) as string,
    });
    expect(JSON.stringify(failed)).not.toContain("a-token-of-before");
  });

  it("answers: one that is not there now may be there in a while", async () => {
    const server = await serving();
    await server.kill();
    expect(await refused(server, "any")).toMatchObject({ code: "environment_failed", passing: true });
  });
});
