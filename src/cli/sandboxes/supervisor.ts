import { MAX_SANDBOX_PROCESSES } from "../../limits.ts";

/** Where a sandbox finds what the service puts there for it; it cannot write there, but into the pipes that lie there. */
export const CONTROL = "/run/edgewise";

/** The supervisor's file there: its text is not what a list of processes shows. */
export const SUPERVISOR_FILE = "supervisor";

/** More processes than commands may have: what they have used up does not keep the next one from beginning. */
export const SPARE_PROCESSES = 32;

/**
 * The first process of a sandbox, in bash: it is process 1 of its own process numbers, which nothing inside can end or stop, and takes in who lost
 * its parent. It reads lines `run N` and `end N` from its standard input, whose end is the sandbox's. A command is a process group, with a file
 * `N.command`, perhaps `N.folder` and `N.in`, and pipes `N.out`, `N.err` and `N.status`, which says the status once the command has ended; it ends without a word
 * when whoever would have said it was killed. First it closes what open files the service itself was started with (a terminal's, a lock's): Node marks
 * the first sixteen alone as not to be inherited, and bubblewrap closes none with `--as-pid-1`.
 */
export const SUPERVISOR = `
for f in /proc/self/fd/*; do
  n=\${f##*/}
  [ "$n" -le 2 ] || [ "$f" -ef ${CONTROL}/${SUPERVISOR_FILE} ] || eval "exec $n>&-"
done
set -m
exec 2>/dev/null
begin() {
  local c=${CONTROL}/$1 text folder
  exec 3>"$c.status" </dev/null >/dev/null
  set +m
  echo 500 >/proc/self/oom_score_adj
  [ -e "$c.in" ] && exec <"$c.in"
  (
    exec >"$c.out" 2>"$c.err" 3>&-
    ulimit -u ${MAX_SANDBOX_PROCESSES}
    if [ -e "$c.folder" ]; then
      IFS= read -r -d '' folder <"$c.folder"
      cd -- "$folder" || exit 1
    fi
    IFS= read -r -d '' text <"$c.command"
    if [ "\${#text}" -lt 100000 ]; then exec sh -c "$text"; else exec sh "$c.command"; fi
  )
  echo $? >&3
}
ulimit -u ${MAX_SANDBOX_PROCESSES + SPARE_PROCESSES}
declare -A groups
echo ready
while read -r what number; do
  case $what in
    run) begin "$number" & groups[$number]=$! ;;
    end) [ -n "\${groups[$number]}" ] && kill -9 -- "-\${groups[$number]}" ;;
    over) unset "groups[$number]" ;;
  esac
done
`;
