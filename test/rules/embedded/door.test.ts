import { describe, expect, it } from "vitest";
import { openDoor } from "../../support/door/fake-ports.ts";

describe("a service without the embedded model", () => {
  const body = { environment_ids: ["gsm8k"], inference_model: "edgewise/tiny", eval_config: { api_base_url: "embedded" } };

  it("refuses a run that names it, and says where it is", async () => {
    const { call, registry } = openDoor({ local: false, token: "t" });
    const response = await call("POST", "/hosted-evaluations", body, { authorization: "Bearer t" });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: "invalid_request", detail: expect.stringContaining("local service only") });
    expect(registry.reserved).toEqual([]);
  });

  it("has none of its routes", async () => {
    const response = await openDoor().call("GET", "//embedded/v1/models");
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "not_found", detail: expect.stringContaining("local service only") });
  });
});
