import { describe, expect, it } from "vitest";
import type { GivenOptions } from "../../../../src/cli/command-line/flags.ts";
import { ServiceClient } from "../../../../src/cli/connection/http-client.ts";
import { agreedFolder, unnamedPlaces } from "../../../../src/cli/eval-run/wish/unnamed-places.ts";
import { type FolderMetadata, readFolder } from "../../../../src/cli/results/resume-folder.ts";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { evaluation, METADATA, notFound, resumeBench, RUN } from "../../../support/results/resume-bench.ts";

const { root, folder, start, posted } = resumeBench();
const EVIL = "https://evil.example/v1";
const planted = { ...METADATA, base_url: EVIL, edgewise: { ...METADATA.edgewise, run_id: RUN } };

const addresses = (metadata: object, given: GivenOptions = {}, keyVars?: string): readonly string[] => {
  const found = readFolder(folder(RUN, { metadata: { ...METADATA, ...metadata } }));
  if (typeof found === "string" || found.metadata === null) throw new Error("no metadata");
  return unnamedPlaces({ given }, found.metadata as FolderMetadata, keyVars).map(({ address }) => address);
};

describe("an address that only the folder names", () => {
  it.each([
    ["the default", "https://api.pinference.ai/api/v1", {}, undefined],
    ["a provider with its own key", "https://api.openai.com/v1", { api_key_var: "OPENAI_API_KEY" }, undefined],
    ["a provider with a key of no other", "https://openrouter.ai/api/v1", { api_key_var: "MY_API_KEY" }, undefined],
    ["this machine", "http://localhost:8000/v1", {}, undefined],
    ["no address at all", "embedded", {}, undefined],
    ["one that KEY_VARS binds the key to", EVIL, { api_key_var: "MY_KEY" }, "MY_KEY@evil.example"],
  ])("needs no word where it is %s", (_what, base_url, given, keyVars) => {
    expect(addresses({ base_url }, given, keyVars)).toEqual([]);
  });

  it.each([
    ["a stranger", EVIL, {}],
    ["a stranger, for a key of no provider", EVIL, { api_key_var: "MY_API_KEY" }],
    ["another machine of the network", "http://192.168.0.9/v1", {}],
    ["a provider that would get another's key", "https://api.openai.com/v1", {}],
    ["the first of several", `${EVIL},https://api.pinference.ai/api/v1`, {}],
  ])("needs one where it is %s", (_what, base_url, given) => {
    expect(addresses({ base_url }, given)).toEqual([base_url.split(",")[0]]);
    expect(addresses({ base_url }, { ...given, api_base_url: "https://named.example/v1" })).toEqual([]);
  });

  it("may stand among the environment's arguments, for a judge", () => {
    const env_args = { judge: { at: [EVIL], name: "m" }, own: "http://127.0.0.1:1/v1", paid: "https://api.openai.com/v1" };
    expect(addresses({ env_args })).toEqual([EVIL]);
    expect(addresses({ env_args }, { env_args })).toEqual([]);
  });
});

describe("-R FOLDER with an address of the folder's own", () => {
  it("is refused with what to type, and nothing of it reaches the service; with -b, or agreed to, it goes on", async () => {
    const path = folder(RUN, { metadata: planted });
    const answer = ({ method }: { method: string }) =>
      method === "GET" && posted("/hosted-evaluations").length === 0 ? notFound : ([200, evaluation(RUN)] as const);
    await expect(start({ resume: path }, answer)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`base_url ${EVIL}`),
      hints: [expect.stringContaining(`-b ${EVIL}`)],
    });
    expect(posted("")).toEqual([]);
    expect(await start({ resume: path, api_base_url: EVIL }, answer)).toMatchObject({ how: "resumed" });
    expect(await start({ resume: path }, answer, { agreed: path })).toMatchObject({ how: "resumed" });
  });

  it("is passed over by a bare -R, which takes what was asked for only", async () => {
    folder(RUN, { metadata: planted });
    expect(await start({ resume: true }, ({ method }) => [200, method === "GET" ? evaluation("0badcafe") : { evaluation_id: "0badcafe" }])).toMatchObject({
      how: "created",
      passedOver: expect.stringContaining(EVIL),
    });
  });

  it("is asked about once, before the folder becomes a run: a yes is for that folder, and a run that the service knows needs none", async () => {
    const path = folder(RUN, { metadata: planted });
    const asked: string[] = [];
    const agreed = async (service: FakeService, yes: boolean | null): Promise<string | null> => {
      const ask = async (question: string): Promise<boolean> => {
        asked.push(question);
        return yes === true;
      };
      const surroundings = { cwd: root(), keyVars: undefined, ask: yes === null ? null : ask };
      return await agreedFolder(new ServiceClient(service.url), { given: { resume: path } }, surroundings);
    };
    let known = false;
    const service = await startFakeService((_request, response) => (known ? sendJson(response, 200, evaluation(RUN)) : sendJson(response, ...notFound)));
    try {
      expect(await agreed(service, true)).toBe(path);
      expect(asked).toEqual([expect.stringMatching(/base_url: https:\/\/evil\.example\/v1\n.*\[y\/N\]/)]);
      await expect(agreed(service, false)).rejects.toThrow(EVIL);
      await expect(agreed(service, null)).rejects.toThrow(EVIL);
      known = true;
      expect(await agreed(service, null)).toBeNull();
      expect(asked).toHaveLength(2);
    } finally {
      await service.close();
    }
  });
});
