import "./design/design.css";
import { render } from "preact";
import { linkOf } from "./address/links.ts";
import { Api } from "./api/ask.ts";
import { App } from "./app.tsx";
import { keepDraftsOf } from "./drafts.ts";
import { keepTheme } from "./frame/theme.ts";
import { Shortcuts } from "./keyboard/shortcuts.ts";
import { visibilityOf } from "./live/visibility.ts";
import { viewerIn } from "./viewer.ts";

const place = document.getElementById("dashboard");
if (place === null) throw new Error("The page has no place for the dashboard.");
keepTheme(document.documentElement);
const viewer = viewerIn(place.dataset);
keepDraftsOf(sessionStorage, viewer.user);
const dashboard = {
  viewer,
  api: new Api(viewer, (url, init) => fetch(url, init)),
  link: linkOf(viewer),
  visibility: visibilityOf(document),
  shortcuts: new Shortcuts(),
};
render(<App dashboard={dashboard} />, place);
