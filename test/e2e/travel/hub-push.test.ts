import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Workplace } from "../../support/cli/cli-process.ts";
import { TOKEN } from "../../support/mock-hub/mock-hub.ts";
import { type MockHubServer, startMockHub } from "../../support/mock-hub/mock-hub-server.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
let server: MockHubServer;
beforeEach(async () => {
  place = new Workplace();
  [model, server] = await Promise.all([startModelServer(), startMockHub()]);
});
afterEach(async () => {
  place.remove();
  await Promise.all([model.close(), server.close()]);
});

describe("eval run --save-to-hf-hub", () => {
  it("pushes the run when it has completed; what goes wrong there is told with the command to type, and is no failure of the run", {
    timeout: 60_000,
  }, async () => {
    const run = (token: string, ...more: readonly string[]) =>
      place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-n", "2", "-r", "1", "-H", ...more], {
        HF_ENDPOINT: server.url,
        HF_TOKEN: token,
      });
    const failed = await run("hf_wrongWrongWrongWrong", "-D", "me/own");
    expect(failed).toMatchObject({ code: 0, stdout: expect.stringContaining("Results: outputs/evals/") });
    expect(failed.stderr).toContain("the run is complete, and was not pushed to the Hugging Face Hub: ");
    expect(failed.stderr).toMatch(/\n {2}Push it: npx edgewise push outputs\/evals\/reverse-text--scripted\/[0-9a-f]{8} --to hf:me\/own\n/);
    expect(failed.stderr + failed.stdout).not.toContain("hf_wrong");
    const pushed = await run(TOKEN, "-R", place.results);
    expect(pushed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nPushed: http:\S+\/datasets\/me\/reverse-text_scripted_n2_r1 \(new, private\), commit [0-9a-f]{12}\nResults: /),
    });
    expect([server.hub.problems, [...server.hub.repositories.keys()]]).toEqual([[], ["me/reverse-text_scripted_n2_r1"]]);
    expect(server.hub.text("me/reverse-text_scripted_n2_r1", "README.md")).toContain(`npx edgewise eval run reverse-text -m scripted -b ${model.url}`);
  });
});
