import { inject } from "vitest";
import type { Stats } from "../../support/model-server/model-ledger.ts";
import type { ScriptInput } from "../../support/model-server/model-script.ts";
import "../../support/model-server/provided-context.ts";

/** The scripted model server outside workerd: what it counts is what a real one would see. */
export const modelServer = {
  get baseUrl(): string {
    return `${inject("modelServerUrl")}/v1`;
  },
  fetch: (url: string, init: RequestInit): Promise<Response> => fetch(url, init),
  async play(script: ScriptInput): Promise<void> {
    await (await fetch(`${inject("modelServerUrl")}/script`, { method: "POST", body: JSON.stringify(script) })).text();
  },
  /** What it was asked for under this model name. */
  async stats(model: string): Promise<Stats> {
    return (await fetch(`${inject("modelServerUrl")}/stats?model=${model}`)).json();
  },
};
