"""Answers questions about node selectors with z3. Reads them from standard input, and writes each with its answer.

A label of a node is a pair of integers. The first is the number that the label spells, or a negative number: -1 is absence, and each
word has one of its own; words that no term names are those that are left. The second is how many zeros a number has in front of it.
A label has at most 63 letters and a number in 64 bits at most 19 digits, so at most 44 zeros are always possible. More of them are
possible for short numbers, but no question here names so many spellings that it could tell.
"""

import sys
import time

import z3

ABSENT = -1
LARGEST = 2**63 - 1
SIGNS = ["!=", "=", ">", "<", "?", "~"]


class Node:
    def __init__(self):
        self.keys = {}
        self.words = {}
        self.always = []
        self.requirements = {}

    def label(self, key):
        if key not in self.keys:
            value, zeros = z3.Ints(f"value.{key} zeros.{key}")
            self.always.append(z3.And(value <= LARGEST, zeros >= 0, zeros <= 44, z3.Implies(value < 0, zeros == 0)))
            # "0" with a zero in front is "00", a spelling like any other.
            self.keys[key] = value, zeros
        return self.keys[key]

    def constant(self, text):
        """The pair of integers of a label."""
        if text.isdigit():
            digits = text.lstrip("0") or "0"
            if int(digits) <= LARGEST:
                return int(digits), len(text) - len(digits)
        return self.words.setdefault(text, -2 - len(self.words)), 0

    def requirement(self, text):
        if text not in self.requirements:
            self.requirements[text] = self.formula(text)
        return self.requirements[text]

    def formula(self, text):
        sign = next(sign for sign in SIGNS if sign in text)
        key, _, rest = text.partition(sign)
        value, zeros = self.label(key)

        def listed():
            constants = (self.constant(each) for each in rest.split(","))
            return z3.Or([z3.And(value == number, zeros == padding) for number, padding in constants])

        if sign == "=":
            return listed()
        if sign == "!=":
            return z3.Not(listed())
        if sign == ">":
            return z3.And(value >= 0, value > int(rest))
        if sign == "<":
            return z3.And(value >= 0, value < int(rest))
        return value != ABSENT if sign == "?" else value == ABSENT

    def term(self, text):
        return z3.And([self.requirement(each) for each in text.split()]) if text else z3.BoolVal(False)


def answer(lines):
    node = Node()
    inside, outside, facts = [], [], []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "in":
            inside.append(node.term(rest))
        elif word == "out":
            outside.append(node.term(rest))
        elif word == "alias":
            (value, zeros), (other, padding) = map(node.label, rest.split())
            facts.append(z3.Or(value == ABSENT, z3.And(value == other, zeros == padding)))
        elif word == "if":
            when, _, then = rest.partition(" then ")
            facts.append(z3.Implies(node.term(when), node.term(then)))
    solver = z3.SolverFor("QF_LIA")
    solver.set("timeout", 60_000)
    solver.add(*node.always, *facts, z3.Or(inside), z3.Not(z3.Or(outside)))
    begun = time.process_time()
    found = solver.check()
    took = round((time.process_time() - begun) * 1e6)
    return {"sat": "escapes", "unsat": "contained"}.get(str(found), "unknown"), took


def main():
    lines = []
    count = 0
    begun = time.monotonic()
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line != "end":
            lines.append(line)
            continue
        found, took = answer(lines[1:])
        print("\n".join(lines + [f"end {found} {took}"]))
        lines = []
        count += 1
        if count % 1000 == 0:
            print(f"z3: {count} questions, {time.monotonic() - begun:.0f} s", file=sys.stderr)


main()
