import { request } from "node:http";

/** Posts JSON and waits for the JSON that comes back, however long: `fetch` gives up on an answer that has not begun after five minutes. */
export function ask<Answer>(url: string, body: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: { "content-type": "application/json" } }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as Answer);
        else reject(new Error(`${response.statusCode}: ${text.slice(0, 500)}`));
      });
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}
