import { describe, expect, it } from "vitest";
import { checkBatches } from "../../../src/executor/preparation/check-batches.ts";
import { CliAgentEnv } from "../../../src/environments/agents/cli-agent-env.ts";
import { BUNDLED } from "../../../src/environments/bundled/all.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";
import { EnvGroup } from "../../../src/environments/kinds/env-group.ts";
import { Environment } from "../../../src/environments/kinds/environment.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { ToolEnv } from "../../../src/environments/kinds/tool-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import type { State } from "../../../src/rollouts/types.ts";

const dataset = [{ question: "q", answer: "a" }];
const single = () => new SingleTurnEnv({ dataset });
const calling = (maxTurns: number) => new ToolEnv({ dataset, tools: [], maxTurns });

describe("an environment whose requests are to go out in batches", () => {
  it("has one turn, as most that come with the package; the others say what they have", () => {
    const problems = BUNDLED.map(({ check }) => check({ env_args: {}, batch: true }, () => "unread")).filter((problem) => problem?.option === "batch");
    expect(problems.map((problem) => problem?.message.split(",")[0])).toEqual([
      "environment blimp scores texts by their likelihood",
      "environment pes2o_ppl scores texts by their likelihood",
      "environment python-math has rollouts of up to 100 turns",
      "environment tinystories_ppl scores texts by their likelihood",
      "environment wordle has rollouts of up to 7 turns",
    ]);
  });

  it("may be told to have one, with the options of a run", () => {
    const tools = BUNDLED.find(({ id }) => id === "wordle");
    const wanted = { env_args: {}, batch: true };
    expect(tools?.check(wanted)).toMatchObject({ option: "batch" });
    expect(tools?.check({ ...wanted, extra_env_kwargs: { max_turns: 1 } })).toBeNull();
  });

  it("is a group whose members all have one", () => {
    expect(new EnvGroup({ envs: [single(), single()] }).batchProblem()).toBeNull();
    expect(new EnvGroup({ envs: [single(), calling(1)] }).batchProblem()).toBeNull();
    expect(new EnvGroup({ envs: [single(), calling(3)] }).batchProblem()).toMatchObject({ message: expect.stringContaining("rollouts of up to 3 turns") });
  });

  it("is none that plays in a way of its own, or that a program asks in", () => {
    class Own extends Environment {
      override rollout = async (state: State) => state;
    }
    expect(new Own({ dataset }).batchProblem()).toMatchObject({ message: expect.stringContaining("in a way of its own") });
    const agent = new CliAgentEnv({ dataset, sandbox: new ScriptedSandbox(), runCommand: "true", maxTurns: 1 });
    expect(agent.batchProblem()).toMatchObject({ message: expect.stringContaining("asks the model by itself") });
  });

  it("is looked at again when it is loaded for the run, which ends there by its name", () => {
    const { traits } = inProcess(Object.assign(calling(3), { id: "tools" }));
    expect(() => checkBatches({ batch: true }, traits)).toThrow("environment tools has rollouts of up to 3 turns");
    checkBatches({}, traits);
    checkBatches({ batch: true }, inProcess(single()).traits);
  });
});
