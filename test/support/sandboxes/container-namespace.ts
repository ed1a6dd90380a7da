import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Containers, ContainerStub } from "../../../src/sandboxes/cloudflare/containers.ts";

/** Objects of Cloudflare's Sandbox SDK, with a folder of this machine each in place of a container, and shells in it. */
export class ContainerNamespace implements Containers {
  readonly folders = new Map<string, string>();
  readonly configured: unknown[] = [];
  /** Calls that the platform fails first. */
  failing = 0;

  idFromName(name: string): unknown {
    return name;
  }

  get(id: unknown): ContainerStub {
    const name = String(id);
    const folder = (): string => {
      if (this.failing-- > 0) throw new Error("There is no container instance that can be provided to this durable object");
      // Whoever is asked first begins anew.
      const known = this.folders.get(name) ?? mkdtempSync(join(tmpdir(), "edgewise-container-"));
      this.folders.set(name, known);
      return known;
    };
    return {
      configure: async (configuration) => void this.configured.push(configuration),
      exec: async (command, { timeout }) => {
        const cwd = folder();
        return await new Promise((resolve) => {
          execFile("bash", ["-c", command], { cwd, timeout, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
            resolve({ stdout, stderr, exitCode: error === null ? 0 : typeof error.code === "number" ? error.code : 1 });
          });
        });
      },
      writeFile: async (path, content) => writeFileSync(path, Buffer.from(content, "base64")),
      readFile: async (path) => ({ content: readFileSync(path).toString("base64") }),
      callTunnels: async (_, [port]) => ({ url: `https://quick-${port}.trycloudflare.com/` }),
      destroy: async () => this.sleep(name),
    };
  }

  /** The container is gone with all that is in it. */
  sleep(name: string): void {
    const folder = this.folders.get(name);
    if (folder !== undefined && existsSync(folder)) rmSync(folder, { recursive: true });
    this.folders.delete(name);
    rmSync(`/tmp/.edgewise-${name}`, { recursive: true, force: true });
  }
}
