/**
 * Schedules as this build stores them, for the test that opens them with every later one (test/e2e/faults/stored-schedules.test.ts): one with a run, pinned
 * data, and paused; one that is due once a year and uses what a definition may say. Part of `npm run keep:state`.
 */
import { until, Workplace } from "../test/support/cli/cli-process.ts";
import { startModelServer } from "../test/support/model-server/model-server.ts";
import { Served } from "../test/support/cli/served.ts";
import { packSchedules, type StoredSchedule } from "../test/support/results/stored-schedules.ts";

/** Bytes of the file. */
export async function keepSchedules(): Promise<number> {
  const place = new Workplace();
  const model = await startModelServer();
  try {
    const service = new Served(place);
    await service.start();
    const evaluation = { env_id: "reverse-text", model: "scripted", api_base_url: model.url, num_examples: 2, rollouts_per_example: 1 };
    const put = async (name: string, definition: object): Promise<void> => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${service.url}/api/v1/schedules/${name}`, { method: "PUT", headers, body: JSON.stringify(definition) });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    };
    const shown = async (name: string): Promise<StoredSchedule> => ((await (await service.ask(`/schedules/${name}`)).json()) as { data: StoredSchedule }).data;
    await put("nightly", { cron: "0 3 * * *", time_zone: "Europe/Berlin", keep: 30, run_name: "nightly {{date}}", eval: evaluation });
    await service.ask("/schedules/nightly/run", {});
    await until(
      async () => (await shown("nightly")).series.some(({ status }) => status === "COMPLETED"),
      60_000,
      () => "the run of the schedule to end",
    );
    await service.ask("/schedules/nightly/pause", { reason: "kept for a test" });
    const yearly = { cron: "59 23 29 2 *", jitter: "5m", overlap: "queue", catch_up: "none", until: "2399-12-31T00:00:00Z", data: "latest" };
    await put("leap-days", { ...yearly, eval: evaluation });
    const schedules = [await shown("leap-days"), await shown("nightly")];
    await service.end("SIGKILL");
    return packSchedules(place.state, schedules);
  } finally {
    place.remove();
    await model.close();
  }
}
