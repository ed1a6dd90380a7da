import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { openApiDocument } from "../../../src/api/openapi.ts";
import { OPERATIONS } from "../../../src/api/operations.ts";
import { evaluationList } from "../../../src/api/runs/list-schemas.ts";
import * as answers from "../../../src/api/response-schemas.ts";
import { CONFIG, openDoor, viewFor } from "../../support/door/fake-ports.ts";

type Paths = Record<string, Record<string, { parameters?: { name: string; in: string; schema: object }[] }>>;
const document = openApiDocument("1.2.3") as { openapi: string; paths: Paths };

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1, and what the service serves", async () => {
    const served = await (await openDoor().call("GET", "/openapi.json")).json();
    expect(served).toEqual(JSON.parse(JSON.stringify(document)));
    const validator = new Validator();
    expect(await validator.validate(served as Parameters<Validator["validate"]>[0])).toMatchObject({ valid: true });
    expect([document.openapi, validator.version]).toEqual(["3.1.0", "3.1"]);
  });

  it("has every route that is mounted under /api/v1, and no other", () => {
    const app = createApp(() => {
      throw new Error("no request is made");
    });
    const mounted = app.routes
      .filter(({ path, method }) => path.startsWith("/api/v1") && method !== "ALL")
      .map(({ path, method }) => `${method.toLowerCase()} ${path.replace(/\{[^}]*\}/g, "")}`);
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        (method) =>
          `${method} ${path
            .replace(/\/$/, "")
            .replaceAll("{sha256}", "{digest}")
            .replace(/\{(\w+)\}/g, ":$1")}`,
      ),
    );
    expect(new Set(described)).toEqual(new Set(mounted.map((route) => route.replace(/\/$/, ""))));
  });

  it("refers to nothing that it lacks", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target);
    expect(new Set(references)).toEqual(new Set(["#/components/schemas/Json", "#/components/schemas/Error"]));
  });

  it("names every parameter of a path, and every field of eval_config with what it means", () => {
    for (const { path, method } of OPERATIONS) {
      const named = document.paths[`/api/v1${path}`]?.[method]?.parameters?.filter((parameter) => parameter.in === "path").map(({ name }) => name) ?? [];
      expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
    expect(JSON.stringify(document.paths["/api/v1/hosted-evaluations"]?.post)).toContain('"description":"attempts at each example"');
    expect(document.paths["/api/v1/evaluations/"]?.get?.parameters?.find(({ name }) => name === "limit")?.schema).toMatchObject({
      type: "integer",
      minimum: 1,
      maximum: 1000,
      default: 50,
    });
  });
});

describe("answers", () => {
  it.each(OPERATIONS.map(({ method, path }) => [method, path] as const))("of %s %s are never taken for another kind than they say", async (method, path) => {
    const door = openDoor();
    door.run("0000beef").state = viewFor({ ...CONFIG, run_id: "0000beef" });
    const answer = await door.call(method.toUpperCase(), path.replace("{id}", "0000beef").replaceAll(/\{\w+\}/g, "0"), method === "get" ? undefined : {});
    await answer.body?.cancel();
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });

  const body = { environment_ids: ["gsm8k"], inference_model: "m", eval_config: { headers: ["X-A: 1"], extra_env_kwargs: { a: 1 }, verbose: true } };

  it("are what the document says", async () => {
    const door = openDoor();
    const answerOf = async (method: string, path: string, sent?: typeof body): Promise<unknown> => (await door.call(method, path, sent)).json();
    const { evaluation_id: id } = answers.created.parse(await answerOf("POST", "/hosted-evaluations", body));
    expect(() => answers.evaluation.parse(null)).toThrow();
    answers.evaluation.parse(await answerOf("GET", `/evaluations/${id}`));
    evaluationList.parse(await answerOf("GET", "/evaluations/"));
    answers.message.parse(await answerOf("PATCH", `/hosted-evaluations/${id}/cancel`));
    answers.resumed.parse(await answerOf("POST", `/evaluations/${id}/resume`));
    answers.message.parse(await answerOf("DELETE", `/evaluations/${id}`));
    const made = { schedule: { name: "nightly", due_at: 0 }, evaluator: { name: "curve", step: 49, evaluation: "math" } };
    door.run("0000beef").state = viewFor({ ...CONFIG, run_id: "0000beef", ...made });
    expect(answers.evaluation.parse(await answerOf("GET", "/evaluations/0000beef")).edgewise).toMatchObject({
      schedule: { name: "nightly", due_at: "1970-01-01T00:00:00.000Z" },
      evaluator: made.evaluator,
    });
    for (const path of ["/evaluations/0", "/nothing", "/evaluations/?limit=x", "/datasets/1"]) answers.errorBody.parse(await answerOf("GET", path));
  });
});
