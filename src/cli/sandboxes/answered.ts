import { EdgewiseError } from "../../errors/result.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import { KIB, MAX_SANDBOX_FILE_BYTES } from "../../limits.ts";
import { SANDBOX_ERRORS, type SandboxErrorName, type SandboxQuestion, type SandboxReply } from "../../sandboxes/local/messages.ts";
import type { LocalSandboxes } from "./local-sandboxes.ts";
import type { WalledResult } from "./wall.ts";

/** A file as base64, and what stands around it. */
const MAX_QUESTION_CHARACTERS = Math.ceil(MAX_SANDBOX_FILE_BYTES / 3) * 4 + 256 * KIB;

/** Answers what the Worker asks about sandboxes, one text of JSON for another. */
export class SandboxAnswers {
  readonly #sandboxes: LocalSandboxes;
  readonly #calls = new Map<string, AbortController>();

  constructor(sandboxes: LocalSandboxes) {
    this.#sandboxes = sandboxes;
  }

  async answer(text: string): Promise<string> {
    return JSON.stringify(await this.#reply(text));
  }

  async #reply(text: string): Promise<SandboxReply> {
    try {
      if (text.length > MAX_QUESTION_CHARACTERS)
        throw new SandboxError(`a command and its file may have ${MAX_QUESTION_CHARACTERS} characters, not ${text.length}`);
      return { result: (await this.#result(JSON.parse(text) as SandboxQuestion)) ?? null };
    } catch (thrown) {
      const name = thrown instanceof Error && (SANDBOX_ERRORS as readonly string[]).includes(thrown.name) ? (thrown.name as SandboxErrorName) : "SandboxError";
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      return { error: { name, message, ...(thrown instanceof EdgewiseError && thrown.hint !== undefined ? { hint: thrown.hint } : {}) } };
    }
  }

  async #result(question: SandboxQuestion): Promise<unknown> {
    switch (question.op) {
      case "create":
        return await this.#abandonable(question.call, (signal) => this.#sandboxes.create(question.spec, question.wall, signal));
      case "ready":
        return this.#sandboxes.ready(question.id);
      case "execute":
        return await this.#abandonable(question.call, async (signal) => {
          const options = { timeoutSeconds: question.timeout_seconds, workingDir: question.working_dir, signal };
          return commandResult(await this.#sandboxes.execute(question.id, question.command, options));
        });
      case "write":
        return await this.#sandboxes.write(question.id, question.path, Buffer.from(question.base64, "base64"));
      case "read":
        return Buffer.from(await this.#sandboxes.read(question.id, question.path)).toString("base64");
      case "expose":
        return await this.#sandboxes.expose(question.id, question.port);
      case "delete":
        return await this.#sandboxes.delete(question.ids);
      case "list":
        return this.#sandboxes.list(question.labels);
      case "describe":
        return await this.#sandboxes.describe();
      case "abandon":
        return this.#calls.get(question.call)?.abort(new SandboxError("nobody waits for it any more"));
    }
  }

  async #abandonable<T>(call: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#calls.set(call, controller);
    try {
      return await work(controller.signal);
    } finally {
      this.#calls.delete(call);
    }
  }
}

const commandResult = ({ exitCode, stderr, stdout }: WalledResult) => ({
  stdout: stdout.bytes.toString(),
  stderr: stderr.bytes.toString(),
  exit_code: exitCode,
  ...(stdout.truncated ? { stdout_truncated: true } : {}),
  ...(stderr.truncated ? { stderr_truncated: true } : {}),
});
