! Processes that are started later, ports and partitions, by the module mpi_f08. The program starts itself twice over; rank 0
! prints "spawned08: right". Run it with 2 processes.
program spawned08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: parent, children, both
  type(MPI_Request) :: request
  integer :: rank, codes(3), many, sum, place, index
  integer(kind=MPI_COUNT_KIND) :: four = 4
  integer :: values(12)
  logical :: flag
  character(len=MPI_MAX_PORT_NAME) :: port
  character(len=200) :: self, argument
  character(len=10) :: arguments(3), table(2, 2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_get_parent(parent)
  call get_command_argument(0, self)
  if (parent /= MPI_COMM_NULL) then
    call get_command_argument(1, argument)
    read (argument, *) place
    call MPI_Reduce(place, sum, 1, MPI_INTEGER, MPI_SUM, 0, parent)
    call MPI_Comm_disconnect(parent)
    call MPI_Finalize()
    stop
  end if

  arguments = [character(len=10) :: "5", "more", " "]
  call MPI_Comm_spawn(self, arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes)
  if (any(codes /= MPI_SUCCESS)) error stop "codes"
  call MPI_Comm_remote_size(children, many)
  if (many /= 3) error stop "not three"
  sum = 0
  call MPI_Reduce(place, sum, 1, MPI_INTEGER, MPI_SUM, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), children)
  if (rank == 0 .and. sum /= 15) error stop "their sum"
  call MPI_Comm_disconnect(children)

  table(1, :) = [character(len=10) :: "7", " "]
  table(2, :) = [character(len=10) :: "11", " "]
  call MPI_Comm_spawn_multiple(2, [self, self], table, [1, 2], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, children, &
                               MPI_ERRCODES_IGNORE)
  call MPI_Reduce(place, sum, 1, MPI_INTEGER, MPI_SUM, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), children)
  if (rank == 0 .and. sum /= 29) error stop "the sum of several"
  call MPI_Comm_disconnect(children)

  if (rank == 0) call MPI_Open_port(MPI_INFO_NULL, port)
  call MPI_Bcast(port, len(port), MPI_CHARACTER, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, both)
    call MPI_Close_port(port)
  else
    call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, both)
  end if
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 0, place, 1, MPI_INTEGER, 0, 0, both, MPI_STATUS_IGNORE)
  if (place /= 1 - rank) error stop "at the port"
  call MPI_Comm_disconnect(both)

  values = [(index, index=1, 12)]
  if (rank == 0) then
    call MPI_Psend_init(values, 3, four, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    call MPI_Start(request)
    call MPI_Pready_list(2, [2, 0], request)
    call MPI_Pready(1, request)
  else
    values = 0
    call MPI_Precv_init(values, 3, four, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    call MPI_Start(request)
    flag = .false.
    do while (.not. flag)
      call MPI_Parrived(request, 2, flag)
    end do
    if (values(9) /= 9) error stop "the third partition"
  end if
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (any(values /= [(index, index=1, 12)])) error stop "partitions"
  call MPI_Request_free(request)
  if (rank == 0) print '(a)', "spawned08: right"
  call MPI_Finalize()
end program
