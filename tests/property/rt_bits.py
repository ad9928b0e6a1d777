"""Bitwise reproducibility of radiation on a mesh that follows photons and gas: the digest does not
depend on ranks, threads, ordering, checks, an emulated device, or a stop between two runs.

    rt_bits.py CASE VARIANTS   CASE: ptah, ramses (the rule; fluxes by HLL, case A recombination,
                               metals), glf (likewise, fluxes by GLF), walls (boundaries, one
                               sub-step of photons) or background (ultraviolet background,
                               self-shielding, H2); VARIANTS: few, many, restart or device

HLL of the rule ramses, by a table of waves, has no kernel: then radiation is on the CPU, beside gas
on the device, as the log says.

Stars that shine: tests/property/star_light.py.

Examples of faults caught: a sum of photons in the order of threads, registers of ghosts that arrive
after their use, cells of a batch that see their neighbours, ghosts of the sub-step before, groups
that a restart forgets.
"""
# test: ptah few tier=quick timeout=60 ranks=3
# test: ptah many tier=check timeout=120 ranks=5
# test: ramses few tier=check timeout=120 ranks=3
# test: walls few tier=check timeout=120 ranks=3
# test: background few tier=check timeout=120 ranks=3
# test: ptah restart tier=check timeout=120 ranks=3
# test: ptah device tier=check timeout=120 ranks=2
# test: glf device tier=long timeout=240 ranks=2
# test: ramses device tier=long timeout=240 ranks=2
# test: ramses many tier=long timeout=240 ranks=5
# test: walls many tier=long timeout=240 ranks=5
# test: background many tier=long timeout=240 ranks=5
# test: walls restart tier=long timeout=240 ranks=3
# test: background restart tier=long timeout=240 ranks=3
# test: walls device tier=long timeout=240 ranks=2
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import radiating  # noqa: E402

STEPS = 4
RAMSES = dict(rule='ramses', smooth='.false.', otsa='.false.', nsubcycle=2,
              cooling='metal=.true.\n', metals='var_region(1,1)=0.01,0.02,0.005\n')
CASES = {
    'ptah': {},
    'ramses': dict(RAMSES, scheme='hll'),
    'glf': dict(RAMSES, scheme='glf'),
    'walls': dict(bounds=radiating.BOUNDS, nsubcycle=1, aim=0.4, interpol=2),
    'background': dict(ions=4, cooling='haardt_madau=.true.\nself_shielding=.true.\n',
                       more='isH2=.true.\nrt_is_outflow_bound=.true.\n')}


def simulate(case, name, ranks=1, threads=1, settings=(), steps=STEPS, env=None):
    text = radiating.namelist(steps=steps, every=STEPS // 2, **CASES[case])
    return ptah.simulate(text, name, ranks, threads, settings, env=env)


def variant(v, case, first, name, **how):
    run = simulate(case, name, **how)
    v.same(name, ptah.changed(ptah.digest(run.outputs[-1]), first), [])
    return run


def few(v, case, first):
    variant(v, case, first, 'threads', threads=2)
    variant(v, case, first, 'ranks3', ranks=3, threads=2,
            settings=['run_params/check_ghosts=.true.', 'run_params/nremap=1'])


def many(v, case, first):
    variant(v, case, first, 'hilbert', ranks=2, settings=['run_params/ordering=hilbert'])
    variant(v, case, first, 'ksection', ranks=5, settings=['run_params/ordering=ksection'])
    variant(v, case, first, 'packed', ranks=3, settings=['run_params/exchange_shared=.false.'])


def restart(v, case, first):
    for before, after, form in ((1, 3, 'original'), (3, 1, 'hdf5')):
        name = 'restart%d%d' % (before, after)
        form = ['output_params/outformat=' + form]
        simulate(case, name, ranks=before, steps=STEPS // 2, settings=form)
        variant(v, case, first, name, ranks=after,
                settings=form + ['run_params/nrestart=2'])


def device(v, case, first):
    """Radiation and chemistry there too, if they have kernels; on several ranks, phases here or
    there by chance, and a device that fills up later in the run."""
    there = case != 'ramses'
    runs = [('device', 1, {}), ('devices', 2, {}), ('chance', 2, {'PTAH_DEVICE_CHOICE': '7'})]
    for name, ranks, env in runs + [('full', 1, {'PTAH_DEVICE_KB': '9000'})] * there:
        parts = ['run_params/%s=.true.' % part for part in ptah.NO_KERNEL]
        run = variant(v, case, first, name, ranks=ranks, env=env, settings=[
            *parts, "run_params/gpu_device='host'", 'run_params/gpu_seed=%d' % ranks])
        v.same('the device has work', ' launches' in run.err, True)
        v.same('also of radiation', 'radiation and chemistry run on emulated' in run.err, there)
        v.same('or why not', "rt_flux_scheme='hll' of rt_rule='ramses' has no kernel" in run.err,
               not there)
        v.same('it fills up', 'from now on everything runs on the CPU' in run.err, name == 'full')


def main():
    _, words = ptah.options(__doc__, '')
    case, variants = (words + ['ptah', 'few'][len(words):])[:2]
    v = ptah.Verdict()
    run = simulate(case, 'first')
    octs = run.err.count(' Level  5 has')
    v.same('the mesh has three levels', octs >= STEPS - 1, True)
    {'few': few, 'many': many, 'restart': restart, 'device': device}[variants](
        v, case, ptah.digest(run.outputs[-1]))
    v.end()


if __name__ == '__main__':
    main()
