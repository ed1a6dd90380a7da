/** A run that a stand-in for the service has, and a folder that is to become its copy, for tests of results folders. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { ServiceClient } from "../../../src/cli/connection/http-client.ts";
import { ResultsFolder } from "../../../src/cli/results/results-folder.ts";
import { type FakeRequest, type FakeService, startFakeService } from "../cli/cli-fake-service.ts";

export const RUN = "1a2b3c4d";

/** A run as the service has it: rows by commit, in commit order, and the sorted file once it is settled. */
class MirroredRun {
  commits: { readonly seq: number; readonly rows: readonly string[] }[] = [];
  sorted: string | null = null;
  metadata = `{"status":"RUNNING"}\n`;
  /** Bytes after which the next answer with rows breaks off. */
  cutAt: number | null = null;
  commitsPerAnswer = 100;
  log: { readonly seq: number; readonly line: string }[] = [{ seq: 1, line: "hello" }];
  eventsPerAnswer = 100;
  /** As a service of before, which sends the whole log whatever is asked for. */
  isOld = false;

  commit(seq: number, ...rows: readonly string[]): void {
    this.commits.push({ seq, rows });
  }

  answer({ path, query }: FakeRequest, response: ServerResponse): void {
    const name = path.split("/").at(-1);
    if (name === "rows") return this.rows(Number(query.get("after")), response);
    if (name === "results.jsonl" && this.sorted === null) return void response.writeHead(409).end(`{"detail":"not settled","code":"run_busy"}`);
    if (name === "eval.log") return this.logAfter(Number(query.get("after")), response);
    response.writeHead(200).end(name === "results.jsonl" ? this.sorted : this.metadata);
  }

  private logAfter(after: number, response: ServerResponse): void {
    const newer = this.log.filter(({ seq }) => this.isOld || seq > after);
    const sent = this.isOld ? newer : newer.slice(0, this.eventsPerAnswer);
    const place = { "x-edgewise-next": String(sent.at(-1)?.seq ?? after), "x-edgewise-more": sent.length < newer.length ? "1" : "0" };
    response.writeHead(200, this.isOld ? {} : place).end(sent.map(({ line }) => `${line}\n`).join(""));
  }

  private rows(after: number, response: ServerResponse): void {
    const newer = this.commits.filter(({ seq }) => seq > after);
    const sent = newer.slice(0, this.commitsPerAnswer);
    const text = sent.flatMap(({ rows }) => rows.map((row) => `${row}\n`)).join("");
    response.writeHead(200, { "x-edgewise-next": String(sent.at(-1)?.seq ?? after), "x-edgewise-more": sent.length < newer.length ? "1" : "0" });
    if (this.cutAt === null) return void response.end(text);
    response.write(text.slice(0, this.cutAt), () => response.destroy());
    this.cutAt = null;
  }
}

export interface MirrorBench {
  readonly run: MirroredRun;
  readonly service: FakeService;
  readonly client: ServiceClient;
  /** Cleared away after the test, with the folder of the run in it. */
  readonly root: string;
  readonly path: string;
  /** What is in `results.jsonl`. */
  results(): string;
  /** The folder, taken over; closed at the end of the test. */
  opened(): Promise<ResultsFolder>;
}

/** Made anew for each test of the file that asks for it. */
export function mirrorBench(begin: (bench: MirrorBench) => void): void {
  const open: ResultsFolder[] = [];
  let bench: MirrorBench;
  beforeEach(async () => {
    const run = new MirroredRun();
    const service = await startFakeService((request, response) => run.answer(request, response));
    const root = mkdtempSync(join(tmpdir(), "edgewise-folder-"));
    const path = join(root, "evals", "e--m", RUN);
    const opened = async (): Promise<ResultsFolder> => {
      const folder = await ResultsFolder.open(path, RUN, "rebuild");
      open.push(folder);
      return folder;
    };
    bench = { run, service, client: new ServiceClient(service.url), root, path, results: () => readFileSync(join(path, "results.jsonl"), "utf8"), opened };
    begin(bench);
  });
  afterEach(async () => {
    await bench.service.close();
    for (const folder of open.splice(0)) await folder.close();
    rmSync(bench.root, { recursive: true, force: true });
  });
}
