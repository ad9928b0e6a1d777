"""Bad parameters of movies end a run with a sentence; a disk that takes no frame does not end it.

Example of a fault caught: an axis that is silently z, a frame of 0 pixels that divides by 0, a NaN
that reaches an integer, a run that dies with its film, half a map under the name of a whole one.
"""
# test: tier=check timeout=120 ranks=2
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import movies  # noqa: E402
import ptah  # noqa: E402
from parameter_runs import GAS, MOVIE, text_of, vary  # noqa: E402

BAD = """
    proj_axis=zzzzzz six:has+6+cameras  proj_axis=zq letter:none+of+x,+y+and+z
    nw_frame=0 pixels:from+1+to  nh_frame=-3 pixels:from+1+to  nw_frame=1000000000 pixels:from+1+to
    movie_vars_txt(1)=pres name:is+not+known  movie_vars_txt(1)=xHII name:radiation
    movie_vars_txt(1)=Fp1 name:radiation  movie_vars_txt(1)=Z name:metal=.false.
    movie_vars_txt(1)=pmag name:mhd=.false.  movie_vars_txt(1)=var9 name:no+such+variable
    movie_vars_txt(1)=../x name:of+a+file  shader_frame(1)=ball name:use+one+of
    method_frame(1)=median name:use+one+of  movie_format=gif name:no+format
    deltax_frame(1)=NaN number:is+a+number  theta_camera(1)=Infinity number:is+a+number
    varmin_frame(1)=NaN number:is+a+number  deltaz_frame(1)=-1 width:negative
    smooth_frame(1)=0 width:above+0  ivar_frame(1)=99 variable:no+such+variable
    tendmov=-1 none:draws+no+frame!0  imovout=0 none:draws+no+frame!0
    tstartmov=9 times:must+be+after  aendmov=1 times:needs+cosmo
    levelmax_frame=1 levels:below+levelmin  imovout=-2 number:from+0""".split()


def hostile(v):
    for setting, words in zip(BAD[::2], BAD[1::2]):
        said, _, status = words.partition(':')[2].replace('+', ' ').partition('!')
        r = ptah.simulate(text_of(MOVIE), 'bad', settings=['movie/' + setting, 'run/nstepmax=1'],
                          must_work=False)
        lines = [x for x in r.err.splitlines() if said in x]
        v.same(setting, (r.status, len(lines)), (int(status or 2), 1))
        shutil.rmtree('bad')
    line = vary(GAS, 'output/tout', run={'ndim': 1}, movie={'movie': True})
    r = ptah.simulate(text_of(line), 'line', must_work=False)
    v.same('one dimension', (r.status, 'movies exist in two and three dimensions' in r.err),
           (2, True))
    none = vary(MOVIE, run={'nstepmax': 1}, movie={'nw_frame': 1, 'nh_frame': 1,
                                                   'deltax_frame': [1e-300, 0.0],
                                                   'smooth_frame': [1e6]})
    v.same('a frame of one pixel of no width', ptah.simulate(
        text_of(none), 'tiny', must_work=False).status, 0)


def shim():
    source = os.path.join(ptah.ROOT, 'tests', 'fault', 'shim.c')
    subprocess.check_call(['cc', '-shared', '-fPIC', '-O1', '-o', 'shim.so', source, '-ldl'])
    return os.path.abspath('shim.so')


def goes_on(v):
    text = text_of(MOVIE)
    whole = ptah.simulate(text, 'whole')
    os.makedirs('blocked')
    with open('blocked/movie1', 'w') as f:
        f.write('not a directory\n')
    r = ptah.simulate(text, 'blocked', ranks=2)
    told = [x for x in r.err.splitlines() if 'is not complete, the run continues' in x]
    frames = len(movies.maps('whole'))
    v.same('a file in the way: one sentence a frame', (len(told), 'movie1' in told[0]),
           (frames, True))
    os.makedirs('link')
    os.symlink('nowhere', 'link/movie1')
    link = ptah.simulate(text, 'link').err
    v.same('a link to nothing', ('movie1: is a link to nothing' in link,
                                 os.path.exists('link/nowhere')), (True, False))
    v.same('the same run', ptah.digest(r.outputs[-1]) == ptah.digest(whole.outputs[-1]), True)
    library = shim()
    for at in range(1, 9):
        folder = 'full%d' % at
        r = ptah.simulate(text, folder, env={
            'LD_PRELOAD': library, 'FAULT_DIR': './movie1', 'FAULT_AT': str(at),
            'FAULT_KIND': 'ENOSPC', 'FAULT_LAST': '1'})
        told = [x for x in r.err.splitlines() if 'No space left' in x and './movie1' in x]
        left = os.listdir(folder + '/movie1') if os.path.isdir(folder + '/movie1') else []
        v.same('full disk at call %d: told, and nothing is half written' % at,
               (len(told) > 0, [x for x in left if '.part' in x and at < 3]), (True, []))
        for path in movies.maps(folder).values():
            movies.read(path)
    v.same('leftovers of a killed run', swept(text), [])
    v.end()


def swept(text):
    os.makedirs('swept/movie1')
    with open('swept/movie1/dens_00001.map.ptah-abcdef.part', 'w') as f:
        f.write('half')
    ptah.simulate(text, 'swept')
    return [x for x in os.listdir('swept/movie1') if '.part' in x]


def main():
    v = ptah.Verdict()
    hostile(v)
    goes_on(v)


if __name__ == '__main__':
    main()
