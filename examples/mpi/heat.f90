! The heat equation on a rod whose ends are kept at 0 and at 1: in the end, the temperature grows evenly from one to the other.
program heat
  use mpi
  implicit none
  integer, parameter :: points = 60
  integer :: rank, ranks, error, n, first, left, right, i, step
  double precision, allocatable :: old(:), new(:)
  double precision :: change, largest, start, finish, away

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)

  ! The points between the ends are shared out evenly; `first` is the number of the first that is here.
  n = points / ranks
  if (rank < mod(points, ranks)) n = n + 1
  first = 0
  call MPI_Exscan(n, first, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) first = 0
  first = first + 1
  left = MPI_PROC_NULL
  right = MPI_PROC_NULL
  if (rank > 0) left = rank - 1
  if (rank < ranks - 1) right = rank + 1

  allocate (old(0:n + 1), new(0:n + 1))
  old = 0d0
  if (rank == ranks - 1) old(n + 1) = 1d0
  new = old

  start = MPI_Wtime()
  do step = 1, 100000
    call MPI_Sendrecv(old(n), 1, MPI_DOUBLE_PRECISION, right, 0, old(0), 1, MPI_DOUBLE_PRECISION, left, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv(old(1), 1, MPI_DOUBLE_PRECISION, left, 1, old(n + 1), 1, MPI_DOUBLE_PRECISION, right, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    do i = 1, n
      new(i) = old(i) + 0.5d0 * (old(i - 1) - 2d0 * old(i) + old(i + 1))
    end do
    change = maxval(abs(new(1:n) - old(1:n)))
    old(1:n) = new(1:n)
    ! Whether it still changes is asked of all, now and then.
    if (mod(step, 100) == 0) then
      call MPI_Allreduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
      if (largest < 1d-10) exit
    end if
  end do
  finish = MPI_Wtime()

  away = 0d0
  do i = 1, n
    away = max(away, abs(old(i) - dble(first + i - 1) / dble(points + 1)))
  end do
  call MPI_Reduce(away, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
  if (rank == 0) then
    write (*, '(i0, a, i0, a, i0, a)') points, ' points on ', ranks, ' ranks: still after ', step, ' steps'
    if (largest < 1d-6) then
      write (*, '(a)') 'the temperature grows evenly: right'
    else
      write (*, '(a, es10.3)') 'the temperature grows evenly: WRONG by ', largest
    end if
    write (*, '(i0, a)') nint((finish - start) / step * 1d9), ' ns a step'
  end if
  call MPI_Finalize(error)
end program heat
