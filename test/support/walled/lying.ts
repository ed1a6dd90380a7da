import { expect } from "vitest";
import { z } from "zod";
import type { Channel } from "../../../src/environment-protocol/channel.ts";
import { openSession } from "../../../src/environment-session/session.ts";
import { defineEnvironment, type LoadContext } from "../../../src/environments/definition/definition.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { runUnit, type UnitOptions, type UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import type { Client } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import type { WalledOptions } from "../../../src/walled/walled-environment.ts";
import { memoryDatasets } from "../environments/memory-datasets.ts";
import { EXAMPLE, response, scripted, unitOptions } from "./units.ts";
import { type Walled, walledBy } from "./walled.ts";

export type Said = Record<string, unknown> & { type: string };

export const definition = defineEnvironment({
  id: "hostile",
  version: "1",
  description: "",
  args: z.object({}),
  load: () => new SingleTurnEnv({ dataset: [{ question: "2+2" }], rubric: new Rubric([{ name: "right", fn: () => 1 }]) }),
});

/** An honest session whose words are changed on their way: one message becomes any number of them. */
export function lying(
  change: (message: Said, send: (...messages: unknown[]) => void) => readonly unknown[] | undefined,
  hear: (message: Said) => readonly unknown[] | undefined = () => undefined,
) {
  return (channel: Channel): void => {
    const between: Channel = {
      send: (batch) => {
        const changed = (batch as readonly Said[]).flatMap((message) => change(message, (...messages) => channel.send(messages)) ?? [message]);
        if (changed.length > 0) channel.send(changed);
      },
      onBatch: () => undefined,
      onBroken: () => undefined,
      close: () => channel.close(),
    };
    openSession(() => definition, between);
    channel.onBatch = (batch) => {
      const answers = (batch as readonly Said[]).flatMap((message) => hear(message) ?? []);
      if (answers.length > 0) channel.send(answers);
      between.onBatch(batch);
    };
    channel.onBroken = (reason) => between.onBroken(reason);
  };
}

/** Changes messages of one type. */
export const changing = (type: string, change: (message: Said) => readonly unknown[]) =>
  lying((message) => (message.type === type ? change(message) : undefined));

export interface Opened extends Walled {
  readonly hosted: HostedEnvironment;
  readonly run: (fields?: Partial<UnitOptions>, client?: Client, count?: number) => Promise<UnitOutcome>;
}

export async function opened(session: (channel: Channel) => void, patience: WalledOptions = {}, context: Partial<LoadContext> = {}): Promise<Opened> {
  const all = walledBy(definition, session, patience);
  const hosted = await all.offered.load({}, { datasets: memoryDatasets(""), ...context });
  const run: Opened["run"] = (fields = {}, client = scripted(() => response("4")), count = 1) => runUnit(hosted, EXAMPLE, unitOptions(client, count, fields));
  return { ...all, hosted, run };
}

export const errorsOf = ({ lines }: UnitOutcome) =>
  lines.map((line) => {
    const { error, reward, example_id, rollout_index } = JSON.parse(line) as {
      error: { code: string; error_chain_repr: string } | null;
      reward: number;
      example_id: number;
      rollout_index: number;
    };
    expect(example_id).toBe(EXAMPLE.example_id);
    return { rollout_index, reward, code: error?.code ?? null, message: error?.error_chain_repr ?? "" };
  });

/** The text of a state with some of it changed. */
export function withState(
  message: Said,
  change: (kept: { state: Record<string, unknown>; input: { set: Record<string, unknown> } } & Record<string, unknown>) => void,
): Said {
  const kept = JSON.parse(String(message.text));
  change(kept);
  return { ...message, text: JSON.stringify(kept) };
}
