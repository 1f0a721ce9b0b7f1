"""Run the report cases.

  python run.py [--tool s2s|autograd|jax|fd|torch] [--only TEXT]
                [--strict] [--shared] [--quiet]

--strict refuses the tape (s2s), so that the compiler alone is scored.

Cases of numpy functions run on every tool but torch; those of
eager_semantics.py run on torch and s2s (see api.py). `fd` checks the written
values by finite differences. A case ends as one of

  pass    the right value, or an error with a clear message where that is right
  WRONG   a wrong value, silently: the worst
  LOUD    an error where the right value is expected
  MSG     an error that was expected, with a message that helps nobody
  skip    the tool can't judge it

The exit status is 0 only when nothing is WRONG, LOUD or MSG.
"""
import argparse
import collections
import contextlib
import importlib
import io
import linecache
import os
import re
import signal
import sys
import types
import warnings

import numpy as onp

import casekit

HERE = os.path.dirname(os.path.abspath(__file__))
TOPICS = ['control_flow', 'mutation', 'numpy_edges', 'calls_closures', 'containers',
          'source_frontend', 'second_order', 'complex_dtype', 'errors', 'eager_semantics']
LIMIT = 20                              # seconds for one case


class Tool:
    """Gradient by a tool, and how a topic's functions get their `np`."""

    def load(self, topic):
        return importlib.import_module(topic)

    def order(self, fun, argnums, n):
        for _ in range(n):
            fun = self.grad(fun, argnums)
        return fun


class S2S(Tool):
    strict = False

    def __init__(self):
        import s2s
        self.lib = s2s

    def grad(self, fun, argnums=0):
        return self.lib.grad(fun, argnums=argnums, strict=self.strict)

    def hessian(self, fun):
        return self.lib.hessian(fun)


class Traced(Tool):
    """A tool with a numpy of its own: the topic is run with np bound to it."""

    def load(self, topic):
        path = os.path.join(HERE, topic + '.py')
        with open(path) as f:
            text = f.read()
        text = re.sub(r'^(\s*)import numpy as (np|num)$', rf'\1import {self.numpy} as \2', text, flags=re.M)
        text = re.sub(r'^(\s*)import numpy$', rf'\1import {self.numpy} as numpy', text, flags=re.M)
        text = re.sub(r'^(\s*)from numpy import', rf'\1from {self.numpy} import', text, flags=re.M)
        name = f'<{topic} on {self.numpy}>'
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        module = types.ModuleType(topic)
        exec(compile(text, name, 'exec'), module.__dict__)
        return module


class Autograd(Traced):
    numpy = 'autograd.numpy'

    def __init__(self):
        import autograd
        self.lib = autograd

    def grad(self, fun, argnums=0):
        return self.lib.grad(fun, argnums)

    def hessian(self, fun):
        return self.lib.hessian(fun)


class Jax(Traced):
    numpy = 'jax.numpy'

    def __init__(self):
        import jax
        jax.config.update('jax_enable_x64', True)
        self.lib = jax

    def grad(self, fun, argnums=0):
        return self.lib.grad(fun, argnums)

    def hessian(self, fun):
        return self.lib.hessian(fun)


class Differences(Tool):
    side = None

    def grad(self, fun, argnums=0):
        return casekit.fd_grad(fun, argnums, side=self.side)

    def order(self, fun, argnums, n):
        return casekit.fd_grad(fun, argnums, side=self.side, order=n)

    def hessian(self, fun):
        return casekit.fd_hessian(fun)


class Torch(Tool):
    pass


TOOLS = dict(s2s=S2S, autograd=Autograd, jax=Jax, fd=Differences, torch=Torch)


def expected(topic, name):
    """What a case says about its right value, from the plain numpy module."""
    module = importlib.import_module(topic)
    module.grad = casekit.fd_grad
    spec = getattr(module, name)()
    if spec.get('check') == 'fd':
        if spec.get('op') == 'hessian':
            diff = casekit.fd_hessian(spec['fun'])
        else:
            diff = casekit.fd_grad(spec['fun'], spec.get('argnums', 0), side=spec.get('fd'), order=spec.get('order', 1))
        spec['expect'] = diff(*casekit.fresh(spec['args']))
        spec['tol'] = spec.get('tol', 1e-4)
    return spec


def judge(spec, got, fd):
    tol = max(spec.get('tol', 1e-5), 5e-4 if fd else 0)
    if 'ok' in spec:
        return '' if spec['ok'](got) else f'{got!r} is none of the right answers'
    text = casekit.same(got, spec['expect'], tol)
    if not text and 'dtype' in spec and not fd and onp.asarray(got).dtype != onp.dtype(spec['dtype']):
        text = f"dtype {onp.asarray(got).dtype}, not {onp.dtype(spec['dtype'])}"
    return text


def run_numeric(tool, topic, name, module):
    fd = isinstance(tool, Differences)
    plain = expected(topic, name)
    if fd and plain.get('fd') is False:
        return 'skip', plain.get('oracle', '')
    if fd and not plain.keys() & {'expect', 'ok'}:
        return 'skip', 'an error is expected'
    if fd:
        tool.side = plain.get('fd')
    module.grad = tool.grad
    value_wanted = bool(plain.keys() & {'expect', 'ok'})
    try:
        spec = getattr(module, name)()
        args = casekit.fresh(spec['args'])
        fun = spec['fun']
        if spec.get('op') == 'hessian':
            got = tool.hessian(fun)(*args)
        elif spec.get('order', 1) > 1:
            got = tool.order(fun, spec.get('argnums', 0), spec['order'])(*args)
        else:
            got = tool.grad(fun, spec.get('argnums', 0))(*args)
    except Exception as e:
        text = f'{type(e).__name__}: {e}'.split('\n')[0][:150]
        if 'expect_error' in plain:
            if re.search(plain['expect_error'], f'{type(e).__name__}: {e}', re.I | re.S):
                return 'pass', ''
            return 'MSG', text
        return 'LOUD', text
    if not value_wanted:
        return 'WRONG', f'no error, but {got!r}'
    text = judge(plain, got, fd)
    if not text and not fd:
        if spec.get('pure', True) and casekit.same(args, casekit.fresh(plain['args']), 1e-15):
            text = 'the arguments were changed'
        elif 'post' in spec:
            try:
                text = '' if spec['post'](got) is True else 'the condition after the call fails'
            except Exception as e:
                return 'LOUD', f'after the call, {type(e).__name__}: {e}'[:150]
    return ('WRONG', text) if text else ('pass', '')


def run_eager(tool, topic, name, module):
    import api
    if not isinstance(tool, (Torch, S2S)):
        return 'skip', 'eager'
    spec = getattr(module, name)()
    try:
        got = spec['run'](api.TorchApi() if isinstance(tool, Torch) else api.S2SApi())
    except Exception as e:
        text = f'{type(e).__name__}: {e}'.split('\n')[0][:150]
        if 'expect_error' in spec:
            if re.search(spec['expect_error'], f'{type(e).__name__}: {e}', re.I | re.S):
                return 'pass', ''
            return 'MSG', text
        return 'LOUD', text
    if not spec.keys() & {'expect', 'ok'}:
        return 'WRONG', f'no error, but {got!r}'
    text = judge(spec, got, False)
    return ('WRONG', text) if text else ('pass', '')


@contextlib.contextmanager
def limit(seconds):
    def stop(*_):
        raise TimeoutError(f'over {seconds} s')
    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def names(topic):
    """The topic's cases in the order of their source."""
    plain = importlib.import_module(topic)
    found = [f for f in vars(plain).values() if hasattr(f, 'case')]
    return [f.__name__ for f in sorted(found, key=lambda f: f.__code__.co_firstlineno)]


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument('--tool', default='s2s', choices=TOOLS)
    parse.add_argument('--only', default='', help='run the cases whose topic.name has this text')
    parse.add_argument('--strict', action='store_true', help='s2s: no fallback to the tape')
    parse.add_argument('--shared', action='store_true', help='only those marked share=True')
    parse.add_argument('--quiet', action='store_true', help='print what does not pass')
    args = parse.parse_args()
    sys.path.insert(0, HERE)
    warnings.simplefilter('ignore')
    onp.seterr(all='ignore')
    S2S.strict = args.strict
    tool = TOOLS[args.tool]()
    count = collections.Counter()
    for topic in TOPICS:
        eager = topic == 'eager_semantics'
        if isinstance(tool, Torch) and not eager:
            continue
        module = importlib.import_module(topic) if eager else tool.load(topic)
        for name in names(topic):
            mark = getattr(importlib.import_module(topic), name).case
            if args.only not in f'{topic}.{name}' or args.shared and not mark['share']:
                continue
            with limit(LIMIT), contextlib.redirect_stdout(io.StringIO()):
                try:
                    status, text = (run_eager if eager else run_numeric)(tool, topic, name, module)
                except TimeoutError as e:
                    status, text = 'LOUD', str(e)
            count[status] += 1
            if not args.quiet or status not in ('pass', 'skip'):
                print(f'{status:5} {topic}.{name}' + (f': {text}' if text else ''))
    bad = count['WRONG'] + count['LOUD'] + count['MSG']
    print(f"wrong {count['WRONG']}, loud {count['LOUD']}, poor message {count['MSG']}")
    print(f"{count['pass']} passed, {bad} failed, {count['skip']} skipped")
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
