import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A tracking server on loopback that does what it is told: answers with a status, or not at all; an answer of 200 is after the rules of MLflow's REST API. */
export interface ScriptedMlflow {
  readonly url: string;
  readonly requests: readonly { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: unknown }[];
  /** Of what was taken, as MLflow keeps it: one of several that agree in all. */
  readonly kept: ReadonlySet<string>;
  /** Requests that have no answer yet, and that their client has not given up. */
  hanging(): number;
  /** From now on; `hang` = no answer. What hangs is cut off. */
  answer(how: number | "hang"): void;
  close(): Promise<void>;
}

interface LogBatch {
  readonly run_id: string;
  readonly metrics: readonly { readonly key: string; readonly value: number; readonly timestamp: number; readonly step: number }[];
}

export async function startScriptedMlflow(): Promise<ScriptedMlflow> {
  const requests: ScriptedMlflow["requests"][number][] = [];
  const kept = new Set<string>();
  const hanging = new Set<ServerResponse>();
  let how: number | "hang" = 200;
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => {
      const body = JSON.parse(text) as LogBatch;
      requests.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body });
      if (how === "hang") {
        hanging.add(response);
        return void response.once("close", () => hanging.delete(response));
      }
      const problem = problemOf(request.url ?? "", body);
      if (how === 200 && problem === null) for (const metric of body.metrics) kept.add(JSON.stringify([body.run_id, metric]));
      response.writeHead(problem === null ? how : 400, { "content-type": "application/json" });
      response.end(JSON.stringify(problem === null ? {} : { error_code: "INVALID_PARAMETER_VALUE", message: problem }));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const response of hanging) response.destroy();
    hanging.clear();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    kept,
    hanging: () => hanging.size,
    answer: (next) => {
      how = next;
      cut();
    },
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve).closeAllConnections());
    },
  };
}

/** What MLflow refuses of a request (mlflow.org, "REST API", "Log Batch"). */
function problemOf(path: string, { run_id, metrics }: LogBatch): string | null {
  if (path !== "/api/2.0/mlflow/runs/log-batch") return "no such route";
  if (typeof run_id !== "string" || !Array.isArray(metrics) || metrics.length > 1_000) return "run_id and up to 1,000 metrics must be given";
  const isMetric = ({ key, value, timestamp, step }: LogBatch["metrics"][number]): boolean =>
    /^[\w./ -]{1,250}$/.test(key) && typeof value === "number" && Number.isSafeInteger(timestamp) && Number.isSafeInteger(step);
  return metrics.every(isMetric) ? null : "a metric is none";
}
