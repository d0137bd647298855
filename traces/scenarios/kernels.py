"""Families single, mix and priority: who gets room on which SM, and when."""
from scenario import Scenario


def single(what, expect_us, asks, rule, grid, block, block_us, **resources):
    s = Scenario("single/" + what, expect_us, asks, rule)
    s.kernel("k", grid, block, block_us, **resources)
    s.launch("k", "a")
    return s.sync()


def singles():
    waves = "blocks of a grid fill all SMs, the rest follow as blocks end"
    limit = "a block is resident while an SM has threads, warps, registers, shared memory and slots for it"
    ragged = [[20, 40, 80, 160][i % 4] for i in range(4)]
    return [
        single("one-block", 300, "One block alone on the GPU.", "a kernel ends with its last block", 1, 1024,
               300),
        single("one-per-sm", 300, "A block of 1024 threads for each SM.", waves, 132, 1024, 300),
        single("full-wave", 300, "264 blocks of 1024 threads are all that fits: one wave.", waves, 264, 1024,
               300),
        single("wave-and-one", 600, "One block more than a wave: twice the time.", waves, 265, 1024, 300),
        single("four-waves", 801, "Four waves of 264 blocks, three refills of 0.2 us.", waves, 1056, 1024,
               200),
        single("half-tail", 500, "A wave and a half: the second half wave costs a whole one.", waves, 396,
               1024, 250),
        single("many-small", 601, "4224 blocks of 64 threads a wave, 32 an SM, which all end together: "
               "refills take up to 2.2 us.", waves, 12672, 64, 200),
        single("odd-threads", 301, "97 threads are 4 warps: 16 blocks an SM, 5000 blocks make 2.4 waves.",
               "threads are allocated in whole warps", 5000, 97, 100),
        single("two-dimensions", 400, "A grid of 12x11x2 blocks of 32x32 threads is 264 blocks: numbered x "
               "first.",
               "shape does not matter to residency, only counts do", [12, 11, 2], [32, 32], 400),
        single("slots", 300, "32 threads a block: 32 block slots an SM are the limit; 4225 blocks are one "
               "too many.",
               limit, 4225, 32, 150),
        single("registers-128", 451, "128 registers x 256 threads: 2 blocks an SM; 600 blocks are 2.3 waves.",
               limit, 600, 256, 150, registers=128),
        single("registers-255", 400, "255 registers are allocated as 256: 4 warps take half the SM; 2 waves.",
               "registers are allocated to a warp in units of 256", 528, 128, 200, registers=255),
        single("shared-two", 400, "100,000 B of shared memory: 2 blocks an SM; 396 blocks are 1.5 waves.",
               limit, 396, 64, 200, shared_bytes=100000),
        single("shared-largest", 500, "The most shared memory that a block may have: one block an SM; 133 "
               "blocks.",
               limit, 133, 128, 250, shared_bytes=232448),
        single("reserve-fits", 300, "2 x (115,712 + 1,024) B are exactly an SM's shared memory.",
               "the driver keeps 1,024 B of shared memory in each block", 264, 128, 300, shared_bytes=115712),
        single("reserve-exceeds", 600, "128 B a block more than fits twice: two waves.",
               "the driver keeps 1,024 B of shared memory in each block", 264, 128, 300, shared_bytes=115840),
        single("long-last-block", 400, "The last of 264 blocks takes four times as long as the others.",
               "a kernel ends with its last block", 264, 1024, [100] * 263 + [400]),
        single("long-first-block", 700, "Block 0 takes seven times as long: the other 263 slots do the rest, "
               "4.01 rounds, in 500 us.", "a freed slot gets the next block, whatever the others do", 1056,
               1024,
               [700] + [100] * 1055),
        single("ragged", 240, "Blocks of 20, 40, 80, 160 us in turn, two rounds of slots: the last long one "
               "starts at 80 us.", "a freed slot gets the next block, whatever the others do", 2112, 256,
               ragged),
        single("ragged-range", 395, "Block times drawn from 50 to 150 us, three blocks a slot: the last "
               "starts at about 250 us and may take 150.",
               "a freed slot gets the next block, whatever the others do", 1584, 512, (50, 150)),
    ]


def mix(what, expect_us, asks, rule, *kernels, gap_us=0):
    """Each kernel (grid, block, block_us[, resources]) in a stream of its own, in order."""
    s = Scenario("mix/" + what, expect_us, asks, rule)
    for i, kernel in enumerate(kernels):
        s.kernel("abc"[i], *kernel[:3], **(kernel[3] if len(kernel) > 3 else {}))
    for i in range(len(kernels)):
        if i > 0 and gap_us:
            s.call("host_work", duration_us=gap_us)
        s.launch("abc"[i], f"s{i}")
    return s.sync()


def mixes():
    leftover = "all blocks of a kernel leave before a later kernel's may (leftover policy)"
    fits = "kernels of several streams share an SM while all its resources allow"
    room = "a block goes to the SM with the most room for blocks of its kernel"
    division = ("an idle SM sets aside the least shared memory that a full load of its next kernel needs, of "
                "8, 16, 32, 64, 100, 132, 164, 196, 228 KiB; a busy one takes only blocks whose kernel needs "
                "no more")
    return [
        mix("side-by-side", 304, "Two kernels of a block for each SM.", fits, (132, 1024, 300), (132, 1024,
            300)),
        mix("room-left", 400, "264 and 400 blocks of 512 threads: half of the GPU is left for the second "
            "one's first 264; the other 136 follow when the first kernel ends.", leftover, (264, 512, 200),
            (400, 512,
                200)),
        mix("empty-sms", 400, "66 blocks of 1024 threads take half of the SMs; 200 blocks of 256 go to the "
            "66 empty SMs.", room, (66, 1024, 400), (200, 256, 300)),
        mix("full-then-two", 500, "Four waves, then two kernels that must wait for the last wave's end.",
            leftover,
            (1056, 1024, 100), (66, 1024, 100), (66, 1024, 100)),
        mix("late-kernel", 173, "64 blocks launched behind a full GPU wait for its end.", leftover,
            (264, 1024, 50), (64, 256, 123)),
        mix("early-kernel", 123, "The same the other way round: the 64 blocks take room of which 264 large "
            "ones miss 64; these follow at 50 us.", fits, (64, 256, 123), (264, 1024, 50)),
        mix("late-crowd", 400, "132 blocks behind a full GPU whose blocks end at 100, 200 and 300 us: they "
            "crowd onto the SMs that free up first.", room, (264, 1024, [100] * 88 + [200] * 88 + [300] * 88),
            (132, 256,
                300)),
        mix("registers", 304, "Half of each SM's registers are taken by a kernel of few threads: of the "
            "second kernel's 264 blocks one an SM fits, then the next.", fits,
            (132, 512, 300, {"registers": 64}), (264, 256, 150, {"registers": 128})),
        mix("shared-exceeds", 400, "180,000 + 60,000 B of shared memory do not fit on an SM together.", fits,
            (132, 128, 200, {"shared_bytes": 180000}), (132, 128, 200, {"shared_bytes": 60000})),
        mix("shared-same-division", 204, "The first kernel sets each SM to 196 KiB of shared memory; the "
            "second, 2 blocks of 15,000 B an SM at most, would do with 32 KiB: it joins.", division,
            (132, 128, 200, {"shared_bytes": 180000}), (132, 1024, 200, {"shared_bytes": 15000})),
        mix("shared-other-division", 400, "180,000 + 50,000 B would fit, but a full load of the second "
            "kernel, 4 blocks, asks for 228 KiB where the SMs are set to 196: it waits.", division,
            (132, 128, 200, {"shared_bytes": 180000}), (132, 128, 200, {"shared_bytes": 50000})),
        mix("shared-then-none", 304, "A kernel with much shared memory, then one without any: it joins.",
            division,
            (132, 256, 300, {"shared_bytes": 200000}), (132, 256, 300)),
        mix("none-then-shared", 600, "The same the other way round: it waits.", division,
            (132, 256, 300), (132, 256, 300, {"shared_bytes": 200000})),
        mix("slots", 300, "31 small blocks an SM leave one slot: 264 more of them need two turns.", fits,
            (4092, 32, 300), (264, 32, 100)),
        mix("big-then-small", 400, "200 blocks of 1024 threads leave 64 halves of SMs, for 256 blocks of "
            "256.", fits,
            (200, 1024, 400), (250, 256, 100)),
        mix("big-then-smaller", 501, "The same with 128 threads: 16 blocks an SM, with 1 KiB reserved for "
            "each, ask for 16 KiB of shared memory, where 2 of 1024 threads had set 8 KiB. None fits.",
            division,
            (200, 1024, 400), (500, 128, 100)),
        mix("small-then-big", 500, "500 blocks of 128 threads, 4 an SM, leave room for one of 1024 on each "
            "SM; 68 of the 200 wait for 100 us.", room, (500, 128, 100), (200, 1024, 400)),
        mix("three-fill", 207, "Three kernels that fill the GPU exactly.", fits,
            (132, 512, 200), (132, 512, 200), (264, 512, 200)),
        mix("three-in-turn", 301, "Three kernels that fill the GPU each: one after the other.", leftover,
            (264, 1024, 100), (264, 1024, 100), (264, 1024, 100)),
        mix("no-overtaking", 500, "Kernel b lacks room for 68 of its blocks; c, one block that would fit, "
            "waits until b's last has left at 300 us.", leftover, (200, 1024, 300), (132, 1024, 200), (1, 32,
                100)),
        mix("tail-overlap", 301, "A wave and a half twice: the last half wave of a kernel leaves room for "
            "the first blocks of the next, three waves in all.",
            leftover, (396, 1024, 100), (396, 1024, 100)),
        mix("late-arrival", 360, "A kernel launched 60 us after another finds half of the GPU free.", fits,
            (132, 1024, 200), (132, 1024, 300), gap_us=56.4),
    ]


def priority(what, expect_us, asks, rule, *kernels):
    """Each kernel (time of launch, priority, grid, block, block_us) in a stream of its own."""
    s = Scenario("priority/" + what, expect_us, asks, rule)
    for i, (_, level, *shape) in enumerate(kernels):
        s.kernel("abcdefghi"[i], *shape)
        s.stream(f"s{i}", priority=level)
    for i, kernel in enumerate(kernels):
        s.until(kernel[0])
        s.launch("abcdefghi"[i], f"s{i}")
    return s.sync()


def chain_against_waves():
    s = Scenario("priority/chain-loses-slots", 451, "Four dependent urgent kernels against waves of a low "
                 "one: a slot that the chain frees is refilled by the low kernel before the chain's next "
                 "kernel arrives.",
                 "priority acts when a block leaves and an urgent block is there to take its place")
    s.kernel("low", 1056, 1024, 100)
    s.kernel("urgent", 32, 1024, 50)
    s.stream("l")
    s.stream("h", priority=-5)
    s.launch("low", "l")
    s.launch("urgent", "h", times=4)
    return s.sync()


def priorities():
    leaves = "priority acts when a block leaves; running blocks stay"
    return [
        priority("urgent-behind-waves", 708, "An urgent kernel launched behind four waves starts with the "
                 "second.",
                 leaves, (0, 0, 1056, 1024, 152), (4, -5, 132, 1024, 100)),
        priority("low-behind-waves", 708, "The same with the priorities swapped: it starts after all four "
                 "waves.",
                 leaves, (0, -5, 1056, 1024, 152), (4, 0, 132, 1024, 100)),
        priority("three-levels", 601, "Three levels launched in the wrong order.", leaves,
                 (0, 0, 1056, 1024, 100), (4, -1, 264, 1024, 100), (8, -5, 264, 1024, 100)),
        priority("each-level", 802, "A full GPU, then a kernel of each of six levels, least urgent first: "
                 "they run most urgent first.", leaves, (0, 0, 528, 1024, 100),
                 *[(4 * (i + 1), -i, 264, 1024, 100) for i in range(6)]),
        priority("same-level", 301, "Two kernels of one level run in order of arrival.",
                 "within a level kernels are served in order", (0, -5, 528, 1024, 100), (4, -5, 264, 1024,
                     100)),
        priority("room-in-tail", 300, "An urgent kernel that arrives in a last half wave finds room at once.",
                 leaves,
                 (0, 0, 396, 1024, 100), (150, -5, 132, 1024, 150)),
        priority("urgent-holds-back", 501, "An urgent kernel that lacks room for half of its blocks also "
                 "holds back a low one that would fit.", "a block leaves only when no more urgent kernel has "
                 "blocks left",
                 (0, 0, 200, 1024, 300), (4, -5, 132, 1024, 200), (8, 0, 1, 32, 100)),
        chain_against_waves(),
    ]


def examiners():
    """Amert et al., RTSS'17, whose TX2 has two SMs of 2048 threads: 66 times as many blocks, and
    microseconds for seconds."""
    fig3 = Scenario("examiner/rtss17-fig3", 404, "Three streams, six kernels. K4 and K5 use shared memory: "
                    "there they start when K1's last blocks have left (100 us), here when these have ended "
                    "(200 us), as the SMs are set to less shared memory until then. K2, K3 follow K1 in its "
                    "stream.",
                    "a kernel leaves the queue once all its blocks are assigned, its stream once they are "
                    "done")
    for key, grid, block, shared in (("K1", 396, 768, 0), ("K2", 132, 512, 0), ("K3", 132, 1024, 0),
                                     ("K4", 264, 256, 8192), ("K5", 132, 256, 8192), ("K6", 132, 512, 0)):
        fig3.kernel(key, grid, block, 100, shared_bytes=shared)
    for key in ("K1", "K2", "K3"):
        fig3.launch(key, "S1")
    fig3.until(20).launch("K4", "S2").until(40).launch("K5", "S3").until(220).launch("K6", "S2").sync()

    fig5 = Scenario("examiner/rtss17-fig5", 709, "Kernels of blocking streams around two in the NULL stream: "
                    "K2 waits for K1, K3 for K2, K5 for K4, K6 for K5.",
                    "the NULL stream waits for all blocking streams, and they for it")
    for key, grid, block in (("K1", 396, 768), ("K2", 66, 1024), ("K3", 264, 256), ("K4", 264, 256),
                             ("K5", 66, 1024), ("K6", 132, 256)):
        fig5.kernel(key, grid, block, 100)
    fig5.launch("K1", "S1").until(20).launch("K2", 0).until(40).launch("K3", "S3").launch("K4", "S3")
    fig5.until(60).launch("K5", 0).until(80).launch("K6", "S4").sync()

    fig6 = priority("rtss17-fig6", 1002, "Two urgent kernels of four waves starve a low one of its second "
                    "wave.",
                    "blocks of a low kernel leave only when no urgent kernel has any",
                    (0, 0, 528, 1024, 100), (40, -1, 1056, 1024, 100), (100, -1, 1056, 1024, 100))
    fig7 = priority("rtss17-fig7", 802, "An urgent kernel takes the place of a low one's second wave; "
                    "streams without a priority count as low.", "priority acts when a block leaves; running "
                    "blocks stay",
                    (0, 0, 528, 1024, 100), (40, 0, 528, 1024, 100), (60, -1, 528, 1024, 100),
                    (240, 0, 528, 1024, 100))
    small = [(20 * i, 0, 66, 512, 200) for i in range(7)]
    fig8 = priority("rtss17-fig8", 420, "An urgent kernel needs 1024 threads of an SM where 512 are free: it "
                    "waits until 220 us and holds back the low kernel behind it, which would fit.",
                    "a block leaves only when no more urgent kernel has blocks left",
                    *small, (130, -1, 66, 1024, 100), (140, 0, 66, 512, 200))
    for s in (fig6, fig7, fig8):
        s.name = s.name.replace("priority/", "examiner/")
        s.lines[0]["name"] = s.name
    return [fig3, fig5, fig6, fig7, fig8]


def scenarios():
    return singles() + mixes() + priorities() + examiners()
