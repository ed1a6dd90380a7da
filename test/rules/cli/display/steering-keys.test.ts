import { describe, expect, it } from "vitest";
import type { ServiceClient } from "../../../../src/cli/connection/http-client.ts";
import { ServiceError } from "../../../../src/cli/connection/http-client.ts";
import { SteeringKeys } from "../../../../src/cli/display/steering-keys.ts";
import { runningView } from "../../../support/cli/display-view.ts";

/** Keys of somebody who looks at a run, and what its service is asked for. */
function looking(refusal: ServiceError | null = null) {
  const asked: string[] = [];
  const said: string[] = [];
  const answer = async (what: string): Promise<unknown> => {
    asked.push(what);
    if (refusal !== null) throw refusal;
    return {};
  };
  const client = {
    pauseRun: (id: string) => answer(`pause ${id}`),
    continueRun: (id: string) => answer(`continue ${id}`),
    setRun: async (id: string, settings: { max_concurrent: number }) => {
      await answer(`set ${id} ${JSON.stringify(settings)}`);
      return { settings, warnings: [] };
    },
  } as unknown as ServiceClient;
  const keys = new SteeringKeys(
    () => client,
    (_view, line) => said.push(line),
  );
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
  return { keys, asked, said, settled };
}

describe("keys of the live display", () => {
  it("pause the run that is looked at, and let it go on", async () => {
    const { keys, asked, said, settled } = looking();
    const [going, paused] = [runningView(), runningView("gsm8k", { paused: { at: 1 } })];
    const id = going.evaluation?.evaluation_id;
    expect([keys.press("p", going), keys.press("p", paused), keys.press("x", going)]).toEqual([true, true, false]);
    await settled();
    expect(asked).toEqual([`pause ${id}`, `continue ${id}`]);
    expect(said).toEqual(["the run is paused: what is in progress is finished first", "the run goes on"]);
  });

  it("double and halve its requests, as often as they are pressed", async () => {
    const { keys, asked, settled } = looking();
    const view = runningView("gsm8k", { max_concurrent: 8 });
    for (const key of ["+", "+", "-"]) keys.press(key, view);
    await settled();
    expect(asked.map((line) => line.split(" ").at(-1))).toEqual(['{"max_concurrent":16}', '{"max_concurrent":32}', '{"max_concurrent":16}']);
  });

  it("ask for nothing where a run has no limit, or has ended", async () => {
    const { keys, asked, said } = looking();
    keys.press("+", runningView("gsm8k", { max_concurrent: 0 }));
    const ended = runningView("gsm8k", { max_concurrent: 8 });
    ended.end("COMPLETED", 1);
    expect(keys.press("p", ended)).toBe(true);
    expect([asked, said]).toEqual([[], ["the run has no limit of requests to double or halve: set one with eval set -c"]]);
  });

  it("say why a run could not be steered", async () => {
    const { keys, said, settled } = looking(new ServiceError(409, "illegal_transition", "The run is interrupted: nothing of it is under way.", null));
    keys.press("p", runningView());
    await settled();
    expect(said).toEqual(["the run could not be steered: The run is interrupted: nothing of it is under way."]);
  });
});
