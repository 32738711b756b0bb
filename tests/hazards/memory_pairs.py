"""Pairs for memory and operands (see `pairs`)."""

from __future__ import annotations

from pairs import fault, note, warn

MEMORY = (
    fault(
        "OOB_GM",
        "data_copy reads bytes [5120:5152) of argument 'a' (1024 bytes), 4128 bytes past its end",
        """
    - asc.data_copy(x, a_gm[1280:], 8)
    + asc.data_copy(x, a_gm[248:], 8)
        """,
    ),
    warn(
        "OOB_GM",
        "data_copy reads bytes [1024:1280) of argument 'a' (1024 bytes), 256 bytes past its end, in turn 4 of its loop",
        """
    - tiles = 5
    + tiles = 4
      for i in range(tiles):
          asc.pipe_barrier(P.PIPE_MTE2)
          asc.data_copy(x, a_gm[i * 64:], 64)
        """,
    ),
    warn(
        "OOB_BUF",
        "duplicate: dst touches bytes [1024:1284), 4 bytes past its tensor (64 elements of float32, bytes "
        "[1024:1280) of UB, made at pair.py:<1>)",
        """
      t = asc.LocalTensor(asc.float32, T.VECCALC, 1024, 64)  # 1
    - asc.duplicate(t, 1.0, 65)
    + asc.duplicate(t, 1.0, 64)
        """,
    ),
    fault(
        "OOB_PHYS",
        "duplicate: dst touches UB bytes [196480:196736), 128 bytes past the end of UB (196608 bytes); its tensor: "
        "64 elements of float32, bytes [196480:196736) of UB, made at pair.py:<1>",
        """
    - top = asc.LocalTensor(asc.float32, T.VECIN, 196608 - 128, 64)  # 1
    + top = asc.LocalTensor(asc.float32, T.VECIN, 196608 - 256, 64)
      asc.duplicate(top, 1.0, 64)
        """,
    ),
    fault(
        "MISALIGNED_ADDR",
        "duplicate: dst starts at byte 20 of UB; rule: a multiple of 32; 5 elements less or 3 more would do",
        """
    - asc.duplicate(x[5:], 1.0, 8)
    + asc.duplicate(x[8:], 1.0, 8)
        """,
    ),
    warn(
        "MISALIGNED_LEN",
        "data_copy: count = 50 asks for 200 bytes, 192 are moved: copies go by whole 32-byte blocks; data_copy_pad "
        "moves single bytes; nearest legal value: 48",
        """
    - asc.data_copy(x, a_gm, 50)
    + asc.data_copy(x, a_gm, 48)
        """,
    ),
    warn(
        "UNINIT_READ",
        "adds, pair.py:<2> (V) uses undefined bytes [128:256) of UB (x): the nearest write before it is duplicate, "
        "pair.py:<1>, bytes [0:128)",
        """
    - asc.duplicate(x, 1.0, 32)  # 1
    + asc.duplicate(x, 1.0, 64)
      asc.adds(z, x, 1.0, 64)  # 2
        """,
    ),
    warn(
        "UNINIT_READ",
        "adds, pair.py:<2> (V) uses undefined bytes [0:256) of UB (x): never written",
        """
    + asc.duplicate(x, 1.0, 64)
      asc.adds(z, x, 1.0, 64)  # 2
        """,
    ),
    warn(
        "UNINIT_READ",
        "adds, pair.py:<2> (V) uses undefined bytes [40:64) of UB (x): the nearest write before it is data_copy_pad, "
        "pair.py:<1>, bytes [0:64)",
        """
      asc.data_copy_pad(x, a_gm, asc.DataCopyParams(1, 40, 0, 0), asc.DataCopyPadParams(False, 0, 1, 0))  # 1
      order(E.MTE2_V)
    - asc.adds(z, x, 1.0, 16)  # 2
    + asc.adds(z, x, 1.0, 10)
        """,
    ),
    warn(
        "UNINIT_READ",
        "adds, pair.py:<2> (V) uses undefined bytes [256:288) of UB (y): the nearest write before it is reduce_max, "
        "pair.py:<1>, bytes [256:288), [512:516)",
        """
      asc.duplicate(x, 1.0, 64)
      asc.duplicate(y, 1.0, 64)
      asc.reduce_max(z, x, y, 64)  # 1
    - asc.adds(x, y, 1.0, 64)  # 2
    + asc.adds(x, x, 1.0, 64)
        """,
    ),
    fault(
        "USE_AFTER_FREE",
        "duplicate: dst: the tensor of que (VECIN), bytes [0:256) of UB, was freed at pair.py:<1>; the bytes are "
        "nobody's now",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 1, 256)
      t = que.alloc_tensor(asc.float32)
    - que.free_tensor(t)  # 1
      asc.duplicate(t, 1.0, 64)
      que.free_tensor(t)
        """,
    ),
    fault(
        "USE_AFTER_FREE",
        "duplicate: dst: the tensor of que (VECIN), bytes [0:256) of UB, was freed at pair.py:<1>; the bytes are now "
        "those of que (VECIN), OCCUPIED since alloc_tensor at pair.py:<2>",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 1, 256)
      t = que.alloc_tensor(asc.float32)
      que.free_tensor(t)  # 1
      u = que.alloc_tensor(asc.float32)  # 2
    - asc.duplicate(t, 1.0, 64)
    + asc.duplicate(u, 1.0, 64)
      que.free_tensor(u)
        """,
    ),
    fault(
        "USE_AFTER_FREE",
        "duplicate: dst: the tensor of buf (VECCALC), bytes [0:256) of UB, lost its memory to TPipe.reset at "
        "pair.py:<1>; the bytes are nobody's now",
        """
      pipe, buf = asc.TPipe(), asc.TBuf(T.VECCALC)
      pipe.init_buffer(buf, 256)
      t = buf.get(asc.float32)
    - pipe.reset()  # 1
      asc.duplicate(t, 1.0, 64)
        """,
    ),
    fault(
        "MEM_OVERFLOW",
        "TPipe.init_buffer: two (VECCALC) asks for 1 x 98336 = 98336 bytes of UB, 65536 of 196608 are available; "
        "buffers so far: que (VECIN) 2 x 49152, one (VECCALC) 1 x 32768, together 131072",
        """
      pipe, que, one, two = asc.TPipe(), asc.TQue(T.VECIN, 1), asc.TBuf(T.VECCALC), asc.TBuf(T.VECCALC)
      pipe.init_buffer(que, 2, 49152)
      pipe.init_buffer(one, 32768)
    - pipe.init_buffer(two, 98336)
    + pipe.init_buffer(two, 65536)
        """,
    ),
    fault(
        "MEM_OVERFLOW",
        "alloc(VECIN, float32, 32776) asks for 131104 bytes of UB, 98304 of 196608 are available; buffers so far: "
        "alloc(VECIN, float32, 16384) 65536, alloc(VECIN, float32, 8192) 32768, together 98304",
        """
      memory = asc.LocalMemAllocator()
      memory.alloc(T.VECIN, asc.float32, 16384)
      memory.alloc(T.VECIN, asc.float32, 8192)
    - memory.alloc(T.VECIN, asc.float32, 32776)
    + memory.alloc(T.VECIN, asc.float32, 24576)
        """,
    ),
    warn(
        "RESERVED_MEM",
        "select: UB bytes [188416:188544) hold data, but they are the scratch of this instruction",
        """
    - top = asc.LocalTensor(asc.float32, T.VECCALC, 184 * 1024, 64)
    + top = asc.LocalTensor(asc.float32, T.VECCALC, 183 * 1024, 64)
      mask = asc.LocalTensor(asc.uint8, T.VECCALC, 2048, 32)
      asc.duplicate(asc.LocalTensor(asc.int16, T.VECCALC, 2048, 16), 0, 16)
      asc.duplicate(top, 1.0, 64)
      asc.select(z, mask, top, 1.0, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, 64)
        """,
    ),
    fault(
        "OVERLAP_PARTIAL",
        "adds: dst bytes [32:224) and src bytes [0:192) of UB meet in bytes [32:192) at repeat 0; rule: lie apart or "
        "coincide",
        """
      asc.duplicate(x, 1.0, 64)
    - asc.adds(x[8:], x, 1.0, 48)
    + asc.adds(y[8:], x, 1.0, 48)
        """,
    ),
    fault(
        "OVERLAP_PARTIAL",
        "cast: dst bytes [0:256) and src bytes [0:128) of UB meet in bytes [0:128) at repeat 0; rule: lie apart or "
        "coincide",
        """
      half = asc.LocalTensor(asc.float16, T.VECCALC, 0, 64)
      asc.duplicate(half, 1.0, 64)
    - asc.cast(x, half, asc.RoundMode.CAST_NONE, 64)
    + asc.cast(y, half, asc.RoundMode.CAST_NONE, 64)
        """,
    ),
    fault(
        "OVERLAP_REPEAT",
        "adds: dst bytes [256:768) and src bytes [0:512) of UB meet in bytes [256:512) at repeat 0; rule: the "
        "destination of a repeat is not a source of the next",
        """
      long = asc.LocalTensor(asc.float32, T.VECCALC, 0, 192)
      asc.duplicate(long, 1.0, 192)
    - asc.adds(long[64:], long, 1.0, 64, 2, asc.UnaryRepeatParams(1, 1, 8, 8))
    + asc.adds(long, long, 1.0, 64, 2, asc.UnaryRepeatParams(1, 1, 8, 8))
        """,
    ),
    note(
        "DEAD_STORE",
        "duplicate, pair.py:<2> (V) on aiv 0 overwrites bytes of UB x[0:256), written by duplicate, pair.py:<1> (V) "
        "and never read since",
        """
      asc.duplicate(x, 1.0, 64)  # 1
    + asc.adds(z, x, 1.0, 64)
      asc.duplicate(x, 2.0, 64)  # 2
        """,
    ),
)

OPERANDS = (
    fault(
        "BAD_POSITION",
        "duplicate: dst lies in A1; rule: VECIN, VECOUT, VECCALC",
        """
    - at = asc.LocalTensor(asc.float32, T.A1, 0, 64)
    + at = asc.LocalTensor(asc.float32, T.VECCALC, 0, 64)
      asc.duplicate(at, 1.0, 64)
        """,
    ),
    fault(
        "BAD_DTYPE",
        "exp: dst has type int32; rule: float16, float32",
        """
    - kind = asc.int32
    + kind = asc.float16
      asc.duplicate(asc.LocalTensor(kind, T.VECIN, 0, 64), 1, 64)
      asc.exp(asc.LocalTensor(kind, T.VECCALC, 256, 64), asc.LocalTensor(kind, T.VECIN, 0, 64), 64)
        """,
    ),
    fault(
        "WRONG_CORE",
        "init_const_value: an aiv core has no unit for it and would do nothing; rule: aic cores",
        """
      l0a = asc.LocalTensor(asc.float16, T.A2, 0, 256)
    - asc.init_const_value(l0a, asc.InitConstValueParams(1, 1, 0, 1.0))
        """,
    ),
    fault(
        "BAD_REPEAT",
        "duplicate: repeat_times = 256; rule: 0 to 255; nearest legal value: 255",
        """
    - n = 256
    + n = 1
      asc.duplicate(x, 1.0, 64, n, 1, 0)
        """,
    ),
    fault(
        "BAD_REPEAT",
        "duplicate: repeat_times = -1; rule: 0 to 255; nearest legal value: 0",
        """
    - n = -1
    + n = 1
      asc.duplicate(x, 1.0, 64, n, 1, 0)
        """,
    ),
    fault(
        "BAD_STRIDE",
        "duplicate: dst_repeat_stride = 256; rule: 0 to 255 blocks; nearest legal value: 255",
        """
    - n = 256
    + n = 8
      asc.duplicate(x, 1.0, 64, 1, 1, n)
        """,
    ),
    fault(
        "BAD_STRIDE",
        "data_copy: block_count = 4096; rule: 0 to 4095; nearest legal value: 4095",
        """
    - n = 4096
    + n = 1
      asc.data_copy(x, a_gm, asc.DataCopyParams(n, 1, 0, 0))
        """,
    ),
    fault(
        "BAD_MASK",
        "duplicate: mask = 65; rule: 1 to 64 lanes of this type; nearest legal value: 64",
        """
    - n = 65
    + n = 64
      asc.duplicate(x, 1.0, n, 1, 1, 8)
        """,
    ),
    fault(
        "BAD_MASK",
        "duplicate: mask = 0; rule: 1 to 64 lanes of this type; nearest legal value: 1",
        """
    - n = 0
    + n = 64
      asc.duplicate(x, 1.0, n, 1, 1, 8)
        """,
    ),
    warn(
        "BAD_MASK",
        "duplicate: mask = [0x1, 0x1] sets bits beyond the 64 lanes of a repeat; they are ignored",
        """
    - mask = [1, 1]
    + mask = [1, 0]
      asc.duplicate(x, 1.0, mask, 1, 1, 8)
        """,
    ),
    warn(
        "ZERO_LENGTH",
        "duplicate: count = 0: the instruction does nothing; rule: 1 or more",
        """
    - n = 0
    + n = 64
      asc.duplicate(x, 1.0, n)
        """,
    ),
)
