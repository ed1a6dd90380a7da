import { describe, expect, it } from "vitest";
import { processVariables } from "../../../../src/cli/python/process-variables.ts";
import { Deaths } from "../../../../src/cli/python/deaths.ts";
import { workerCount } from "../../../../src/cli/python/worker-count.ts";

const NOTHING = { named: [], declared: [], modelKeys: ["MODEL_KEY"] };

describe("the variables of an environment's process", () => {
  const env = {
    PATH: "/bin",
    HOME: "/home/me",
    LANG: "de_DE.UTF-8",
    LC_ALL: "C",
    VIRTUAL_ENV: "/venv",
    PYTHONPATH: "/lib",
    UV_INDEX_URL: "https://me:word@index.example",
    UV_PUBLISH_TOKEN: "t",
    HTTPS_PROXY: "http://proxy.example:3128",
    http_proxy: "http://me:word@proxy.example:3128",
    EDGEWISE_TOKEN: "e",
    HF_TOKEN: "h",
    MODEL_KEY: "m",
    JUDGE_KEY: "j",
    AWS_SECRET_ACCESS_KEY: "a",
    MY_SETTING: "s",
  };

  it("are what Python needs, and no key, token, password or anything else of the command", () => {
    expect(Object.keys(processVariables(env, NOTHING).values)).toEqual(["PATH", "HOME", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH", "HTTPS_PROXY"]);
  });

  it("are more where its project declares them, or the command names them", () => {
    const { values, given } = processVariables(env, {
      ...NOTHING,
      declared: ["JUDGE_KEY", "NOT_SET", "HF_TOKEN", "MODEL_KEY"],
      named: ["MY_SETTING", "OPENAI_API_KEY=JUDGE_KEY"],
    });
    expect(given).toEqual(["JUDGE_KEY", "MY_SETTING", "OPENAI_API_KEY"]);
    expect(values).toMatchObject({ JUDGE_KEY: "j", MY_SETTING: "s", OPENAI_API_KEY: "j" });
    expect(values).not.toHaveProperty("HF_TOKEN");
    expect(values).not.toHaveProperty("MODEL_KEY");
  });

  it.each([
    ["MODEL_KEY", "--env-var MODEL_KEY: it holds the key of a model under evaluation"],
    ["JUDGE=MODEL_KEY", "--env-var JUDGE=MODEL_KEY: it holds the key of a model under evaluation"],
    ["HF_TOKEN", "--env-var HF_TOKEN: the token of the Hugging Face Hub"],
    ["EDGEWISE_TOKEN", "--env-var EDGEWISE_TOKEN: variables of edgewise itself"],
    ["EDGEWISE_X=MY_SETTING", "--env-var EDGEWISE_X=MY_SETTING: variables of edgewise itself"],
    ["GONE", "--env-var: GONE is not set"],
  ])("are never %s", (name, message) => {
    expect(() => processVariables(env, { ...NOTHING, named: [name] })).toThrow(message);
  });
});

describe("the number of processes", () => {
  it("is one for each 256 rollouts at once, at most the cores, and each has its share", () => {
    expect(workerCount([{}], {}, 8)).toEqual({ processes: 1, concurrency: 32 });
    expect(workerCount([{ max_concurrent: 256 }], {}, 8)).toEqual({ processes: 1, concurrency: 256 });
    expect(workerCount([{ max_concurrent: 257 }], {}, 8)).toEqual({ processes: 2, concurrency: 128 });
    expect(workerCount([{ max_concurrent: 10_000 }], {}, 8)).toEqual({ processes: 8, concurrency: 1250 });
  });

  it("is what -w says, and each plays at least one rollout", () => {
    expect(workerCount([{ num_workers: 4 }], {}, 2)).toEqual({ processes: 4, concurrency: 8 });
    expect(workerCount([{ num_workers: 4, max_concurrent: 2 }], {}, 2)).toEqual({ processes: 4, concurrency: 1 });
    expect(() => workerCount([{ num_workers: 33 }], {}, 2)).toThrow("-w/--num-workers: an environment in Python has at most 32 processes");
  });

  it("follows a concurrency that the environment is told, and without a limit the size of the run", () => {
    expect(workerCount([{ extra_env_kwargs: { concurrency: 512 }, max_concurrent: 4 }], {}, 8)).toEqual({ processes: 2, concurrency: 256 });
    expect(workerCount([{ max_concurrent: 0, num_examples: 300, rollouts_per_example: 2 }], {}, 8)).toEqual({ processes: 3, concurrency: 200 });
    expect(workerCount([{ max_concurrent: -1 }], { num_examples: 100, rollouts_per_example: 1 }, 8)).toEqual({ processes: 1, concurrency: 100 });
    expect(workerCount([{ max_concurrent: 0, num_examples: -1 }], {}, 8), "nobody knows how many").toEqual({ processes: 1, concurrency: null });
  });

  it("is that of all evaluations of the environment together, and one with --disable-env-server", () => {
    expect(workerCount([{ max_concurrent: 200 }, { max_concurrent: 200 }], {}, 8)).toEqual({ processes: 2, concurrency: 200 });
    expect(workerCount([{ num_workers: 4, max_concurrent: 900, disable_env_server: true }], {}, 8)).toEqual({ processes: 1, concurrency: 900 });
  });
});

describe("a process that ends by itself", () => {
  it("is started again at once, then after growing pauses, and given up when it ends ten times within a minute", () => {
    const deaths = new Deaths();
    expect(Array.from({ length: 10 }, (_, at) => deaths.note(at * 1000))).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 8000, 8000, null]);
  });

  it("has those forgotten that are more than a minute ago", () => {
    const deaths = new Deaths();
    for (let at = 0; at < 100; at++) expect(deaths.note(at * 10_000)).not.toBeNull();
    expect(new Deaths().note(5e6)).toBe(0);
  });
});
