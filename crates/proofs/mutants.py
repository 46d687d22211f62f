"""Changes the code in one small place at a time, and runs the fast native tests on each change.

cargo-mutants lists the changes. It would also build the tests once for each of them, which takes hours. This program builds them
once for all: each function gets a copy of its body for each change in it, and an environment variable chooses which copy runs. A
copy that the compiler rejects is left out. A test is run on a change only where it enters the changed function. A change that no
test notices is printed, and fails, unless mutants.txt says why it changes nothing.

usage: mutants.py LAYERS [SHARD], as in mutants.py "logic rules" 0/5, in the root of the repository
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

TREE = Path("target/mutants/tree")
KNOWN = Path("crates/proofs/mutants.txt")
# The tests of the library that need neither the module nor the network.
TESTS = """logic_cases corpus toleration_cases node_taints images settings_messages all_rules logic_budget recorded_node_selectors
    recorded_tolerations recorded_csi_translation recorded_csi_and_rwop standard_tolerations paths_properties pinned_properties
    toleration_properties volume_properties logic_properties local_volumes_limits many_claims_and_containers volume_sizes
    cluster_order depth""".split()
# Which copy of a body runs. A panic ends the program, so that the first test that fails is the last that runs.
SWITCH = """
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

static CHANGE: LazyLock<u32> = LazyLock::new(|| {
    let change = std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(0);
    if change > 0 {
        std::panic::set_hook(Box::new(|_| std::process::exit(101)));
    }
    change
});
static ENTERED: LazyLock<Option<std::path::PathBuf>> = LazyLock::new(|| std::env::var_os("MUTANTS_ENTERED").map(Into::into));
static SEEN: [AtomicBool; 4000] = [const { AtomicBool::new(false) }; 4000];

#[inline(always)]
pub fn at(function: usize) -> u32 {
    if let Some(file) = &*ENTERED
        && !SEEN[function].swap(true, Ordering::Relaxed)
    {
        let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
        file.write_all(format!("{function}\\n").as_bytes()).unwrap();
    }
    *CHANGE
}

/// One of two iterators, for functions that do not name theirs.
pub enum Either<A, B> {
    A(A),
    B(B),
}

impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for Either<A, B> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        match self {
            Either::A(one) => one.next(),
            Either::B(other) => other.next(),
        }
    }
}

impl<T, A: DoubleEndedIterator<Item = T>, B: DoubleEndedIterator<Item = T>> DoubleEndedIterator for Either<A, B> {
    fn next_back(&mut self) -> Option<T> {
        match self {
            Either::A(one) => one.next_back(),
            Either::B(other) => other.next_back(),
        }
    }
}
"""


def listed(layers):
    """The changes that cargo-mutants knows."""
    files = [option for layer in layers for option in ("--file", f"src/{layer}/**")]
    command = ["cargo", "mutants", "--no-config", "--list", "--json", "--package", "placement-guard", *files]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


class Text:
    """A file, by line and column."""

    def __init__(self, path):
        self.text = Path(path).read_text()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def at(self, place):
        return self.starts[place["line"] - 1] + place["column"] - 1

    def span(self, span):
        return self.at(span["start"]), self.at(span["end"])


TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'])'|'[A-Za-z_]\w*|[({\[]|[)}\]]""",
    re.S,
)


def body_of(text):
    """Where the body of a function begins, which ends with it."""
    depth, begin = 0, None
    for token in TOKEN.finditer(text):
        if token[0] in "({[":
            if token[0] == "{" and depth == 0:
                begin = token.start()
            depth += 1
        elif token[0] in ")}]":
            depth -= 1
    return begin


def grouped(mutants):
    """Changes by the outermost function that they are in, and the changes that are in none that can be copied."""
    groups, others = {}, []
    for mutant in mutants:
        if not mutant["function"]:
            others.append(mutant)
            continue
        text = TEXTS.setdefault(mutant["file"], Text(mutant["file"]))
        mutant["at"] = text.span(mutant["span"])
        mutant["in"] = text.span(mutant["function"]["span"])
    for mutant in mutants:
        if not mutant["function"]:
            continue
        around = [
            other["in"]
            for other in mutants
            if other["function"] and other["file"] == mutant["file"]
            and other["in"][0] <= mutant["in"][0] and mutant["in"][1] <= other["in"][1]
        ]
        groups.setdefault((mutant["file"], min(around, key=lambda span: span[0] - span[1])), []).append(mutant)
    for (file, (begin, end)), group in list(groups.items()):
        head = TEXTS[file].text[begin:end]
        head = head[: body_of(head)]
        returns = head.split("->")[-1]
        if re.search(r"\bconst\s+fn\b", head) or ("impl " in returns and not returns.strip().startswith("impl ")):
            others += groups.pop((file, (begin, end)))
    return groups, others


def changed(body, offset, mutant):
    begin, end = (place - offset for place in mutant["at"])
    if mutant["genre"] == "StructField" and body[end : end + 1] == ",":
        end += 1
    return body[:begin] + " " + mutant["replacement"] + " " + body[end:]


def write_tree(groups, rejected):
    """Writes the sources with all copies. For each file the lines of each copy."""
    lines = {}
    numbers = {key: number for number, key in enumerate(sorted(groups))}
    for file in sorted({file for file, _ in groups}):
        text, out, position = TEXTS[file].text, [], 0
        count = 1
        for (_, (begin, end)), group in sorted((key, group) for key, group in groups.items() if key[0] == file):
            source = text[begin:end]
            start = body_of(source)
            body, head = source[start:], source[:start]
            number = numbers[(file, (begin, end))]
            is_opaque = head.split("->")[-1].strip().startswith("impl ")
            head = text[position:begin] + head + f"{{ match crate::mutant::at({number}) {{\n"
            out.append(head)
            count += head.count("\n")
            arms = [mutant for mutant in group if mutant["id"] not in rejected]
            for place, mutant in enumerate(arms):
                copy = changed(body, begin + start, mutant)
                if is_opaque:
                    copy = "crate::mutant::Either::B(" * place + f"crate::mutant::Either::A((move || {copy})())" + ")" * place
                arm = f"{mutant['id']} => {copy}\n" if not is_opaque else f"{mutant['id']} => {{ {copy} }}\n"
                lines.setdefault(file, []).append((count, count + arm.count("\n"), mutant["id"]))
                out.append(arm)
                count += arm.count("\n")
            last = body
            if is_opaque and arms:
                last = "{ " + "crate::mutant::Either::B(" * len(arms) + f"(move || {body})()" + ")" * len(arms) + " }"
            rest = f"_ => {last} }} }}"
            out.append(rest)
            count += rest.count("\n")
            position = end
        out.append(text[position:])
        (TREE / file).write_text("".join(out))
    return lines, numbers


def copy_tree():
    for folder in ("src", "tests"):
        shutil.rmtree(TREE / folder, ignore_errors=True)
    files = subprocess.run(
        ["git", "ls-files", "-z", "--", "Cargo.lock", "src", "tests", "crates/testkit", "policies", "metadata.yml", "docs"],
        check=True, stdout=subprocess.PIPE,
    ).stdout.decode().split("\0")
    for file in filter(None, files):
        if Path(file).exists():
            (TREE / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, TREE / file)
    with open(TREE / "src/lib.rs", "a") as lib:
        lib.write("\npub mod mutant;\n")
    (TREE / "src/mutant.rs").write_text(SWITCH)
    whole = Path("Cargo.toml").read_text()
    workspace = whole[whole.index("[workspace.package]") : whole.index("# What decides or carries")]
    features = whole[whole.index("[features]") : whole.index("[[test]]")]
    tests = "".join(
        f'[[test]]\nname = "{test}"\npath = "{path_of(test)}"\n' + ("harness = false\n" if test == "corpus" else "") for test in TESTS
    )
    (TREE / "Cargo.toml").write_text(
        f"""[workspace]
members = ["crates/testkit"]
resolver = "3"
{workspace}
[package]
name = "placement-guard"
version.workspace = true
edition.workspace = true
license.workspace = true
publish = false
autobenches = false
autotests = false
[lib]
doctest = false
{features}
{tests}
[profile.dev]
debug = false
# Some tests compute much.
opt-level = 1
"""
    )


def path_of(test):
    return f"tests/{test}.rs" if Path(f"tests/{test}.rs").exists() else f"tests/{test}/main.rs"


def cargo(*arguments):
    """Errors by file and line, and the programs that were built."""
    environment = dict(os.environ, RUSTFLAGS="-Awarnings", CARGO_INCREMENTAL="0")
    command = ["cargo", *arguments, "--message-format=json"]
    ran = subprocess.run(command, cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    errors, programs = [], {}
    for line in ran.stdout.decode().splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
            spans = [span for span in message["message"]["spans"]]
            errors.append((message["message"]["message"], [(span["file_name"], span["line_start"], span["is_primary"]) for span in spans]))
        if message["reason"] == "compiler-artifact" and message.get("executable"):
            programs[message["target"]["name"] if "test" in message["target"]["kind"] else "lib"] = message["executable"]
    if ran.returncode and not errors:
        sys.exit(ran.stderr.decode())
    return errors, programs


def without_rejected(groups):
    """Leaves out what the compiler rejects, until it accepts the rest."""
    # An iterator over `&mut T` is not one over `&T`; the compiler says so about the function, not about the copy.
    rejected = {
        mutant["id"] for group in groups.values() for mutant in group
        if "leak(" in mutant["replacement"] and "impl " in mutant["function"]["return_type"]
    }
    begun = time.time()
    while True:
        lines, numbers = write_tree(groups, rejected)
        errors, _ = cargo("check", "--lib")
        found, elsewhere = set(), []
        for message, spans in errors:
            inside = {
                number
                for file, line, _ in sorted(spans, key=lambda span: not span[2])
                for begin, end, number in lines.get(file, [])
                if begin <= line < max(end, begin + 1)
            }
            found |= inside
            if not inside and spans:
                elsewhere.append((message, spans))
        print(f"{len(errors)} errors, {len(rejected)} + {len(found)} rejected, {time.time() - begun:.0f} s", flush=True)
        if not errors:
            return rejected, numbers
        if not found:
            # The function cannot be copied: all of its changes are left.
            for message, spans in elsewhere[:20]:
                print(message, spans[:2])
            sys.exit("errors outside of every copy")
        rejected |= found


def run(program, number, seconds, entered=None):
    """Whether the tests of a program pass, and the seconds of the processor that they took."""
    environment = dict(os.environ, CI="true", RUST_MIN_STACK=str(64 << 20), RUST_TEST_THREADS="1", MUTANT=str(number))
    if entered:
        environment["MUTANTS_ENTERED"] = str(entered)

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (round(seconds), round(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = ["--test-threads=1"]
    ran = subprocess.run([program, *arguments], cwd=TREE, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ran.returncode, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


TEXTS = {}


def unchanged(programs):
    """For each program the functions that its tests enter, and the seconds of the processor that they take without a change."""
    entered, took = {}, {}
    for name, program in programs.items():
        file = (TREE / f"entered-{name}").resolve()
        file.unlink(missing_ok=True)
        code, took[name] = run(program, 0, 600, file)
        if code:
            sys.exit(f"{name} fails without a change")
        entered[name] = sorted(map(int, file.read_text().split())) if file.exists() else []
        print(f"  {name}: {took[name]:.1f} s, {len(entered[name])} functions", flush=True)
    return entered, took


def build(layers):
    """Builds the tests with all changes, and writes down what they are."""
    TREE.mkdir(parents=True, exist_ok=True)
    mutants = listed(layers)
    mutants.sort(key=lambda mutant: mutant["name"])
    for number, mutant in enumerate(mutants, 1):
        mutant["id"] = number
    groups, others = grouped(mutants)
    copy_tree()
    rejected, numbers = without_rejected(groups)
    functions = {mutant["id"]: numbers[key] for key, group in groups.items() for mutant in group}
    errors, programs = cargo("test", "--no-run")
    if errors:
        sys.exit(f"the tests do not compile: {errors[:3]}")
    entered, took = unchanged(programs)
    state = {
        "entered": entered,
        "took": took,
        "names": {mutant["id"]: mutant["name"] for mutant in mutants},
        "functions": functions,
        "rejected": sorted(rejected),
        "others": [mutant["name"] for mutant in others],
        "programs": programs,
    }
    (TREE / "state.json").write_text(json.dumps(state))


def main():
    layers = sys.argv[1].split()
    shard, shards = map(int, (sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] else "0/1").split("/"))
    if sys.argv[3:] != ["built"]:
        build(layers)
    if sys.argv[3:] == ["build"]:
        return
    state = json.loads((TREE / "state.json").read_text())
    names, function_of = ({int(number): value for number, value in state[name].items()} for name in ("names", "functions"))
    rejected, others, programs = set(state["rejected"]), state["others"], state["programs"]
    print(f"{len(programs)} programs are built", flush=True)
    entered = {name: set(functions) for name, functions in state["entered"].items()}
    took = state["took"]
    order = sorted(programs, key=lambda name: took[name])
    known = {line.split(" # ")[0] for line in KNOWN.read_text().splitlines() if line}
    in_layers = [number for number, name in names.items() if name.split("/")[1] in layers]
    chosen = [number for number in in_layers if number in function_of and number not in rejected and number % shards == shard]
    caught, missed, begun = 0, [], time.time()
    for count, number in enumerate(chosen, 1):
        reaching = (name for name in order if function_of[number] in entered[name])
        if any(run(programs[name], number, took[name] * 3 + 3)[0] for name in reaching):
            caught += 1
        else:
            missed.append(names[number])
            print(f"not noticed: {names[number]}", flush=True)
        if count % 50 == 0:
            print(f"{count} of {len(chosen)}, {caught} caught, {time.time() - begun:.0f} s", flush=True)
    # Lines move; what is changed in which function does not.
    unexplained = [name for name in missed if re.sub(r":\d+:\d+: ", ": ", name) not in known]
    share = 100 * caught / max(1, len(chosen))
    print(
        f"{' '.join(layers)} {shard}/{shards}: {len(in_layers)} changes, {len(rejected & set(in_layers))} rejected by the compiler,"
        f" {len(others)} that cannot be copied, {len(chosen)} tested, {caught} caught ({share:.1f} %), {len(missed)} not noticed,"
        f" of them {len(unexplained)} unexplained"
    )
    for name in unexplained:
        print(f"unexplained: {name}")
    sys.exit(bool(unexplained))


if __name__ == "__main__":
    main()
